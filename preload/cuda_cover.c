#include "preload/cuda_cover.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "preload/names.h"
#include "preload/process.h"
#include "preload/record.h"

static struct group {
	const char *name, *prefix; /* the beginning of its file's name */
	uint32_t pid;		    /* of the image that said it */
	const void *said;	    /* the library's base */
	const void *met;	    /* a function of a library that nothing was said of yet */
	uint32_t is_loaded;
} groups[SP_CUDA_GROUPS] = {
	[SP_CUDA_RUNTIME] = {"cuda-runtime", "libcudart.so", 0, NULL, NULL, 0},
	[SP_CUDA_DRIVER] = {"cuda-driver", "libcuda.so", 0, NULL, NULL, 0},
	[SP_CUDA_NCCL] = {"nccl", "libnccl.so", 0, NULL, NULL, 0},
};

static int is_recording(void)
{
	const struct sp_thread *t = sp_tls.thread;

	return sp_process && t && t->state == SP_THREAD_LIVE;
}

static void say(struct group *g, const void *function)
{
	Dl_info info;

	if (!dladdr(function, &info) || !info.dli_fname)
		return;
	if (g->pid == sp_process->pid && g->said == info.dli_fbase)
		return;
	g->pid = sp_process->pid;
	g->said = info.dli_fbase;
	sp_cover_library(g->name, info.dli_fname);
}

static void meet(enum sp_cuda_group group, const void *function, int may_begin)
{
	struct group *g = &groups[group];

	__atomic_store_n(&g->met, function, __ATOMIC_RELAXED);
	if (sp_process && may_begin)
		say(g, function);
}

void sp_cuda_cover(enum sp_cuda_group group, const void *function)
{
	meet(group, function, 1);
}

void sp_cuda_cover_found(enum sp_cuda_group group, const void *function)
{
	meet(group, function, is_recording());
}

/* More than these are not named. */
static struct unknown {
	const char *name;
	uint64_t told;
} unknown[8];

static void say_unknown(struct unknown *u)
{
	if (u->name && is_recording() && sp_cover_is_new(&u->told))
		sp_cover(u->name, "unobservable",
			 "asked for as of a newer CUDA than is known, where its parameters may be others");
}

void sp_cuda_cover_unknown(const char *name)
{
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		const char *before = NULL;

		if (!__atomic_compare_exchange_n(&unknown[i].name, &before, name, 0, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED) &&
		    before != name)
			continue;
		say_unknown(&unknown[i]);
		return;
	}
}

static int library_match(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size, (void)unused;
	name = name ? name + 1 : info->dlpi_name;
	for (int i = 0; i < SP_CUDA_GROUPS; i++)
		groups[i].is_loaded |= !strncmp(name, groups[i].prefix, strlen(groups[i].prefix));
	return 0;
}

void sp_cuda_cover_end(void)
{
	if (!is_recording())
		return;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		say_unknown(&unknown[i]);
	dl_iterate_phdr(library_match, NULL);
	for (int i = 0; i < SP_CUDA_GROUPS; i++) {
		struct group *g = &groups[i];

		if (g->pid == sp_process->pid)
			continue;
		if (g->met)
			say(g, g->met);
		else if (g->is_loaded)
			sp_cover(g->name, "absent", "the library is loaded, and no call of it was seen");
	}
}
