/*
 * The library's two ends. Everything else happens in hooked calls.
 */
#include <errno.h>
#include <unistd.h>

#include "preload/config.h"
#include "preload/cuda_cover.h"
#include "preload/cuda_slow.h"
#include "preload/cuda_time.h"
#include "preload/cupti.h"
#include "preload/nvtx.h"
#include "preload/originals.h"
#include "preload/pack.h"
#include "preload/process.h"
#include "preload/processor.h"
#include "preload/python.h"
#include "preload/record.h"
#include "preload/say.h"
#include "preload/stacks.h"
#include "preload/switch.h"
#include "preload/thread.h"
#include "preload/unseen.h"

/* errno is the host's from its first instruction on. glibc calls constructors with main's arguments. */
__attribute__((constructor)) static void runtime_begin(int argc, char **argv, char **environment)
{
	int kept = errno;

	(void)environment;
	sp_say_init();
	sp_config_read(environ);
	if (sp_process_init()) {
		sp_switch_init();
		sp_process_keep_arguments(argc, argv);
		sp_originals_find();
		if (sp_processor_has_avx2())
			sp_pack_use_avx2();
		sp_thread_init();
		sp_stacks_init();
		sp_python_init();
		sp_cuda_slow_init();
		sp_nvtx_init();
		sp_cuda_time_init();
	}
	errno = kept;
}

/* Other libraries' destructors may still call; their events begin another part of the thread. */
__attribute__((destructor)) static void runtime_end(void)
{
	int kept = errno;

	sp_cupti_end();
	sp_cuda_cover_end();
	sp_unseen_end();
	sp_thread_finish();
	errno = kept;
}
