/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/recorder/own_run.h"

#include <check.h>
#include <ftw.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "preload/recorder/process_image.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/thread.h"
#include "preload/settings/config.h"
#include "preload/settings/run_identity.h"
#include "preload/sys/log_once.h"

char run_folder[64];

void run_begin(const char *mode)
{
	char output[128];

	snprintf(run_folder, sizeof(run_folder), "/tmp/stageprof-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(run_folder));
	snprintf(output, sizeof(output), "%s/run.zst", run_folder);
	setenv("STAGEPROF_OUTPUT", output, 1);
	setenv("STAGEPROF_MODE", mode, 1);
	sp_log_init();
	sp_config_read(environ);
	ck_assert_int_eq(sp_process_init(), 1);
	sp_thread_init();
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status, (void)type, (void)walk;
	return remove(path);
}

/* The process that saves a dead thread's memory may put a file between the list and the rmdir;
 * libcheck's limit ends a test whose directory never goes. */
void run_remove(void)
{
	while (nftw(run_folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
		usleep(10000);
}

void run_forget(void)
{
	unsetenv("STAGEPROF_RUN");
	memset(&sp_config, 0, sizeof(sp_config));
	memset(&sp_run, 0, sizeof(sp_run));
}

struct slots_count run_read(slots_definition *each, void *argument)
{
	struct slots_count count;

	ck_assert_int_eq(slots_read_directory(sp_run.directory, &count, each, argument), 0);
	return count;
}

/* As `zstd -t`, without a process: some tests do it a thousand times. */
static void zstd_accepts_file(const char *path)
{
	static char bytes[1 << 16], content[1 << 17];
	FILE *file = fopen(path, "rb");
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {.src = bytes};
	size_t left = 0;

	ck_assert_msg(file && stream, "cannot open %s", path);
	while ((in.size = fread(bytes, 1, sizeof(bytes), file)) > 0)
		for (in.pos = 0; in.pos < in.size;) {
			ZSTD_outBuffer out = {.dst = content, .size = sizeof(content)};

			left = ZSTD_decompressStream(stream, &out, &in);
			ck_assert_msg(!ZSTD_isError(left), "%s: %s", path, ZSTD_getErrorName(left));
		}
	ck_assert_msg(left == 0, "%s: its last frame is cut", path);
	ZSTD_freeDStream(stream);
	fclose(file);
}

void zstd_accepts(void)
{
	char pattern[4300];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*.zst", sp_run.directory);
	ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		zstd_accepts_file(found.gl_pathv[i]);
	globfree(&found);
}

int emit(int64_t value)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return 0;
	SP_SPAN(span, t, SP_EV_read, 1u << SP_FILE_TYPE_SHIFT | 1);
	sp_span_end(&span, value);
	return 1;
}

/* ck_assert writes to a pipe each time: never in a loop, never in a child of ours. */
void emit_many(int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (!emit(i))
			abort();
}

static void *emit_thread(void *argument)
{
	emit_many(*(int64_t *)argument);
	return NULL;
}

void emit_in_threads(unsigned threads, int64_t n)
{
	pthread_t *ids = calloc(threads, sizeof(*ids));

	for (unsigned i = 0; i < threads; i++)
		ck_assert_int_eq(pthread_create(&ids[i], NULL, emit_thread, &n), 0);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	free(ids);
}

void in_child(void (*work)(void), int killed)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		work();
		if (killed)
			kill(getpid(), SIGKILL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(WIFSIGNALED(status), killed);
}

void emit_and_finish(void)
{
	emit_many(300);
	sp_thread_finish();
}
