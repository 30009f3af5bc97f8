/* SPDX-License-Identifier: Apache-2.0 */
/* two_libjpegs FOLDER beside|in_turn|after_global: each library reaches its own libjpeg. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tests/programs/victims/tally.h"

static struct tally_row *images;

static void *load(const char *folder, char marker, int flags, int (**ret_decode)(void))
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof(path), "%s/libstubcaller_%c.so", folder, marker);
	handle = dlopen(path, RTLD_NOW | flags);
	if (!handle)
		fprintf(stderr, "%s\n", dlerror());
	EXPECT(handle);
	*ret_decode = (int (*)(void))dlsym(handle, "decode_one");
	EXPECT(*ret_decode);
	return handle;
}

static void decode(int (*function)(void))
{
	tally_begin(images);
	putchar(function());
	tally_end(images, 8);
}

/* Two private ones, then one that everybody can see beside them. */
static void beside(const char *folder)
{
	int (*a)(void), (*b)(void), (*c)(void);

	load(folder, 'a', RTLD_LOCAL, &a);
	load(folder, 'b', RTLD_LOCAL, &b);
	for (int i = 0; i < 20; i++) {
		decode(a);
		decode(b);
	}
	load(folder, 'c', RTLD_GLOBAL, &c);
	for (int i = 0; i < 20; i++) {
		decode(c);
		decode(a);
		decode(b);
	}
}

/* Loaded and unloaded in turn, mostly at the same address: nothing remembered may be stale. */
static void in_turn(const char *folder)
{
	for (int i = 0; i < 300; i++) {
		int (*function)(void);
		void *handle = load(folder, "abd"[i % 3], RTLD_LOCAL, &function);

		decode(function);
		dlclose(handle);
	}
}

/* The dynamic linker prefers a global one to what the caller itself is linked to. */
static void after_global(const char *folder)
{
	int (*c)(void), (*d)(void);

	load(folder, 'c', RTLD_GLOBAL, &c);
	load(folder, 'd', RTLD_LOCAL, &d);
	for (int i = 0; i < 20; i++) {
		decode(d);
		decode(c);
	}
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : ".", *mode = argc > 2 ? argv[2] : "beside";

	images = tally_row("jpeg_decode", "finished");
	if (strcmp(mode, "beside") == 0)
		beside(folder);
	else if (strcmp(mode, "in_turn") == 0)
		in_turn(folder);
	else
		after_global(folder);
	putchar('\n');
	return 0;
}
