/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constructor and the destructor. All other code runs in hooked calls.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/settings/config.h"
#include "preload/cuda/cuda_coverage.h"
#include "preload/cuda/cuda_slow_calls.h"
#include "preload/cuda/cuda_time.h"
#include "preload/cuda/cupti.h"
#include "preload/frameworks/framework_lookups.h"
#include "preload/frameworks/loaded_frameworks.h"
#include "preload/frameworks/nvtx.h"
#include "preload/resolve/originals.h"
#include "preload/blocks/pack.h"
#include "preload/recorder/cores.h"
#include "preload/recorder/process.h"
#include "preload/recorder/process_image.h"
#include "preload/sys/processor.h"
#include "preload/frameworks/python.h"
#include "preload/recorder/recorder.h"
#include "preload/sampler/sampler_process.h"
#include "preload/sys/log_once.h"
#include "preload/stacks/stacks.h"
#include "preload/recorder/switch.h"
#include "preload/recorder/thread.h"
#include "preload/waits/thread_waits.h"
#include "preload/hooks/unseen.h"

/* musl has no on_exit, and a program of musl ends where a strong name is missing. */
extern __typeof__(on_exit) on_exit __attribute__((weak));

static int has_exit_handler;

/* exit(3), and the return of main, give the status only to such a handler. It was registered before
 * main, so it runs after all destructors: the trace ends here, with the status in it. */
static void exit_handler(int status, void *unused)
{
	int kept = errno;

	(void)unused;
	sp_process_ending(status);
	sp_thread_finish();
	sp_process_end();
	errno = kept;
}

/* errno belongs to the host from its first instruction on. glibc passes main's arguments to
 * constructors. */
__attribute__((constructor)) static void runtime_begin(int argc, char **argv, char **environment)
{
	int kept = errno;

	(void)environment;
	sp_log_init();
	sp_config_read(environ);
	if (sp_process_init()) {
		sp_sampler_process_begin();
		sp_switch_init();
		sp_process_keep_arguments(argc, argv);
		sp_originals_find();
		if (sp_processor_has_avx2())
			sp_pack_use_avx2();
		sp_thread_init();
		sp_waits_init();
		sp_cores_init();
		sp_stacks_init();
		sp_framework_lookups_init();
		sp_python_init();
		sp_cuda_slow_init();
		sp_nvtx_init();
		sp_cuda_time_init();
		has_exit_handler = on_exit && on_exit(exit_handler, NULL) == 0;
	}
	errno = kept;
}

/* Destructors of other libraries may still call hooks. Without an exit handler their events begin
 * another segment of the thread. */
__attribute__((destructor)) static void runtime_end(void)
{
	int kept = errno;

	sp_cupti_end();
	sp_cuda_coverage_end();
	sp_unseen_end();
	sp_frameworks_end();
	if (!has_exit_handler) {
		sp_thread_finish();
		sp_process_end();
	}
	errno = kept;
}
