/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/unobserved_exec.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "preload/settings/dormant.h"
#include "preload/sys/environment.h"
#include "preload/sys/host_memory.h"
#include "preload/sys/paths.h"
#include "preload/sys/freeze.h"
#include "preload/recorder/emit.h"
#include "preload/recorder/process.h"
#include "preload/recorder/process_image.h"

#define PATH_BYTES_MAX 4096u /* with its NUL; execve(2) takes no longer one */
#define NAME_BYTES sizeof(((struct sp_unobserved_exec *)0)->name)

enum { FREE = 0, WRITING, UNREPORTED, REPORTED };

/* Returns NULL if the chunk cannot be read. */
static const char *chunk_read(char *ret, const struct iovec *chunk)
{
	long got;

	if (sp_process_is_frozen())
		return chunk->iov_base;
	got = sp_host_memory_read(ret, chunk, 1);
	if (got == -EFAULT)
		return NULL;
	return got == (long)chunk->iov_len ? ret : chunk->iov_base;
}

/* Reads the last part of a path. Returns 0 if there is none or it cannot be read. */
static int name_read(char ret[NAME_BYTES], const char *path)
{
	struct sp_text name = sp_text_init(ret, NAME_BYTES);
	size_t n;

	for (size_t read = 0; read < PATH_BYTES_MAX; read += n) {
		char copy[64];
		struct iovec there = sp_host_memory_chunk(path, sizeof(copy));
		const char *chunk = chunk_read(copy, &there);

		n = there.iov_len;
		for (size_t i = 0; chunk && i < n && chunk[i]; i++)
			if (chunk[i] == '/')
				name = sp_text_init(ret, NAME_BYTES);
			else
				sp_text_add_char(&name, chunk[i]);
		if (!chunk || memchr(chunk, 0, n))
			return chunk && *ret;
		path += n;
	}
	return 0;
}

/* Other threads may look for an entry meanwhile: the same name twice is no harm. */
static void remember(struct sp_unobserved_execs *execs, const char *name)
{
	for (uint32_t i = 0; i < SP_UNOBSERVED_MAX; i++) {
		struct sp_unobserved_exec *exec = &execs->of[i];
		uint32_t state = FREE;

		if (__atomic_compare_exchange_n(&exec->state, &state, WRITING, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_ACQUIRE)) {
			strcpy(exec->name,
			       i + 1 < SP_UNOBSERVED_MAX ? name : SP_NOTE_TEXT("others"));
			__atomic_store_n(&exec->state, UNREPORTED, __ATOMIC_RELEASE);
			__atomic_store_n(&execs->has_unreported, 1, __ATOMIC_RELEASE);
			return;
		}
		if (state != WRITING && strcmp(exec->name, name) == 0)
			return;
	}
}

void sp_unobserved_exec_notice(const char *path, char *const envp[])
{
	char name[NAME_BYTES];

	if (!sp_process || sp_environment_preloads(envp, sp_process_is_frozen()) ||
	    !name_read(name, path))
		return;
	sp_dormant_drop_triplet(name);
	if (!sp_dormant_starts_nothing(name) || sp_process_wants(name))
		remember(&sp_process->unobserved, name);
}

static void report(struct sp_thread *t, const char *name)
{
	static const char note[] = SP_NOTE_TEXT("a program was started without LD_PRELOAD: neither "
						"it "
						"nor what it starts is observed");
	char line[sizeof(note) + NAME_BYTES];
	struct sp_text text = sp_text_init(line, sizeof(line));

	sp_text_add(&text, note);
	sp_text_add_char(&text, '\t');
	sp_text_add(&text, name);
	sp_define(t, SP_DEFINE_NOTE, 0, NULL, 0, line, strlen(line));
}

void sp_unobserved_exec_report(struct sp_thread *t)
{
	struct sp_unobserved_execs *execs = &sp_process->unobserved;

	if (sp_likely(!__atomic_load_n(&execs->has_unreported, __ATOMIC_RELAXED)) ||
	    !__atomic_exchange_n(&execs->has_unreported, 0, __ATOMIC_ACQUIRE))
		return;
	for (uint32_t i = 0; i < SP_UNOBSERVED_MAX; i++) {
		uint32_t state = UNREPORTED;

		if (__atomic_compare_exchange_n(&execs->of[i].state, &state, REPORTED, 0,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			report(t, execs->of[i].name);
	}
}
