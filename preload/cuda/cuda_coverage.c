/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda_coverage.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "preload/recorder/intern.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/sys/libdl.h"

static struct library_group {
	const char *name, *prefix; /* the beginning of its file's name */
	uint32_t pid;		   /* of the image that reported it */
	const void *reported;	   /* the library's base */
	const void *pending;	   /* a function of a library that is not reported yet */
	uint32_t is_loaded;
} groups[SP_CUDA_GROUPS] = {
	[SP_CUDA_RUNTIME] = {"cuda-runtime", "libcudart.so", 0, NULL, NULL, 0},
	[SP_CUDA_DRIVER] = {"cuda-driver", "libcuda.so", 0, NULL, NULL, 0},
	[SP_CUDA_NCCL] = {"nccl", "libnccl.so", 0, NULL, NULL, 0},
	[SP_CUDA_HIP] = {"hip", "libamdhip64.so", 0, NULL, NULL, 0},
};

static int is_recording(void)
{
	const struct sp_thread *t = sp_tls.thread;

	return sp_process && t && t->state == SP_THREAD_LIVE;
}

static void report(struct library_group *g, const void *function)
{
	Dl_info info;

	if (!sp_dladdr(function, &info) || !info.dli_fname)
		return;
	if (g->pid == sp_process->pid && g->reported == info.dli_fbase)
		return;
	g->pid = sp_process->pid;
	g->reported = info.dli_fbase;
	sp_coverage_library(g->name, info.dli_fname);
}

static void note(enum sp_cuda_group group, const void *function, int may_begin)
{
	struct library_group *g = &groups[group];

	__atomic_store_n(&g->pending, function, __ATOMIC_RELAXED);
	if (sp_process && may_begin)
		report(g, function);
}

void sp_cuda_coverage(enum sp_cuda_group group, const void *function)
{
	note(group, function, 1);
}

void sp_cuda_coverage_found(enum sp_cuda_group group, const void *function)
{
	note(group, function, is_recording());
}

/* Further names are not reported. */
static struct unknown {
	const char *name;
	uint64_t reported;
} unknown[8];

static void report_unknown(struct unknown *u)
{
	if (u->name && is_recording() && sp_coverage_is_new(&u->reported))
		sp_coverage_add(u->name, "unobservable",
				"asked for as of a newer CUDA than is known, where its parameters "
				"may be others");
}

void sp_cuda_coverage_unknown(const char *name)
{
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		const char *before = NULL;

		if (!__atomic_compare_exchange_n(&unknown[i].name, &before, name, 0,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
		    before != name)
			continue;
		report_unknown(&unknown[i]);
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

void sp_cuda_coverage_end(void)
{
	if (!is_recording())
		return;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		report_unknown(&unknown[i]);
	dl_iterate_phdr(library_match, NULL);
	for (int i = 0; i < SP_CUDA_GROUPS; i++) {
		struct library_group *g = &groups[i];

		if (g->pid == sp_process->pid)
			continue;
		if (g->pending)
			report(g, g->pending);
		else if (g->is_loaded)
			sp_coverage_add(g->name, "absent",
					"the library is loaded, and no call of it was seen");
	}
}
