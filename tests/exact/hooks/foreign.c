/* SPDX-License-Identifier: Apache-2.0 */
/* foreign FOLDER MODE: prints the markers of the libraries that its calls reached. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/hooks/abi_jpeg.h"

static const char *folder;

static void *load(const char *name, int flags)
{
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%s/lib%s.so", folder, name);
	library = dlopen(path, flags);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return library;
}

struct caller {
	void (*make)(struct sp_jpeg_decompress *cinfo, int version);
	unsigned (*jump)(struct sp_jpeg_decompress *cinfo);
	unsigned (*whole)(int version);
};

static struct caller load_caller(char marker, int flags)
{
	char name[] = "foreigncaller_?";
	void *library;

	name[sizeof(name) - 2] = marker;
	library = load(name, flags);
	return (struct caller){(void (*)(struct sp_jpeg_decompress *, int))dlsym(library, "make"),
			       (unsigned (*)(struct sp_jpeg_decompress *))dlsym(library, "jump"),
			       (unsigned (*)(int))dlsym(library, "whole")};
}

/* The return addresses are all in this file: the object says whose it is. */
static void jumps(void)
{
	struct caller a = load_caller('a', RTLD_NOW), b = load_caller('b', RTLD_NOW);
	struct sp_jpeg_decompress of_a, of_b;

	a.make(&of_a, 62);
	b.make(&of_b, 62);
	for (int i = 0; i < 3; i++) {
		putchar((int)a.jump(&of_a));
		putchar((int)b.jump(&of_b));
	}
}

/* Neither the object nor the return address says anything; one library only can be meant. */
static void jump_nameless(void)
{
	struct caller a = load_caller('a', RTLD_NOW);
	struct sp_jpeg_decompress of_a;

	a.make(&of_a, 0);
	putchar((int)a.jump(&of_a));
}

/* Bound when it was loaded: what becomes global later is not what it meant. */
static void late_global(int flags)
{
	struct caller a = load_caller('a', flags);

	load_caller('c', RTLD_NOW | RTLD_GLOBAL);
	putchar((int)a.whole(0));
}

static void by_version(void)
{
	int (*ask)(void);

	load("foreignversion_2", RTLD_NOW | RTLD_GLOBAL);
	ask = (int (*)(void))dlsym(load("foreignasker", RTLD_NOW), "ask");
	putchar(ask());
}

/* A program that looks the name up by itself gets our wrapper and imports nothing. */
static void pointer(void)
{
	unsigned (*read)(struct sp_jpeg_decompress *, unsigned char **, unsigned);
	struct sp_jpeg_decompress cinfo = {.common = {.mem = NULL}};

	load("foreignjpeg_b", RTLD_NOW | RTLD_GLOBAL);
	read = (unsigned (*)(struct sp_jpeg_decompress *, unsigned char **,
			     unsigned))dlsym(RTLD_DEFAULT, "jpeg_read_scanlines");
	putchar((int)read(&cinfo, NULL, 1));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "";

	folder = argc > 1 ? argv[1] : ".";
	if (strcmp(mode, "jumps") == 0)
		jumps();
	else if (strcmp(mode, "jump_nameless") == 0)
		jump_nameless();
	else if (strcmp(mode, "late_global") == 0)
		late_global(RTLD_NOW);
	else if (strcmp(mode, "late_global_lazy") == 0)
		late_global(RTLD_LAZY);
	else if (strcmp(mode, "by_version") == 0)
		by_version();
	else if (strcmp(mode, "pointer") == 0)
		pointer();
	return 0;
}
