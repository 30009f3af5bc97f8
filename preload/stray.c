#include "preload/stray.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "preload/dormant.h"
#include "preload/environment.h"
#include "preload/host_memory.h"
#include "preload/paths.h"
#include "preload/process.h"
#include "preload/record.h"

#define PATH_BYTES_MAX 4096u /* with its NUL; execve(2) takes no longer one */
#define NAME_BYTES sizeof(((struct sp_stray *)0)->name)

enum { FREE = 0, WRITING, UNTOLD, TOLD };

/* NULL: it cannot be read. */
static const char *piece_read(char *ret, const struct iovec *piece)
{
	long got;

	if (sp_process_is_frozen())
		return piece->iov_base;
	got = sp_host_memory_read(ret, piece, 1);
	if (got == -EFAULT)
		return NULL;
	return got == (long)piece->iov_len ? ret : piece->iov_base;
}

/* The last part of a path. Returns 0 where there is none, or it cannot be read. */
static int name_read(char ret[NAME_BYTES], const char *path)
{
	struct sp_text name = sp_text_init(ret, NAME_BYTES);
	size_t n;

	for (size_t read = 0; read < PATH_BYTES_MAX; read += n) {
		char copy[64];
		struct iovec there = sp_host_memory_piece(path, sizeof(copy));
		const char *piece = piece_read(copy, &there);

		n = there.iov_len;
		for (size_t i = 0; piece && i < n && piece[i]; i++)
			if (piece[i] == '/')
				name = sp_text_init(ret, NAME_BYTES);
			else
				sp_text_add_char(&name, piece[i]);
		if (!piece || memchr(piece, 0, n))
			return piece && *ret;
		path += n;
	}
	return 0;
}

/* Others may look for a place meanwhile: the same name twice is no harm. */
static void remember(struct sp_strays *strays, const char *name)
{
	for (uint32_t i = 0; i < SP_STRAYS_MAX; i++) {
		struct sp_stray *stray = &strays->of[i];
		uint32_t state = FREE;

		if (__atomic_compare_exchange_n(&stray->state, &state, WRITING, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_ACQUIRE)) {
			strcpy(stray->name, i + 1 < SP_STRAYS_MAX ? name : SP_NOTE_TEXT("others"));
			__atomic_store_n(&stray->state, UNTOLD, __ATOMIC_RELEASE);
			__atomic_store_n(&strays->untold, 1, __ATOMIC_RELEASE);
			return;
		}
		if (state != WRITING && strcmp(stray->name, name) == 0)
			return;
	}
}

void sp_stray_notice(const char *path, char *const envp[])
{
	char name[NAME_BYTES];

	if (!sp_process || sp_environment_preloads(envp, sp_process_is_frozen()) || !name_read(name, path))
		return;
	sp_dormant_drop_triplet(name);
	if (!sp_dormant_starts_nothing(name) || sp_process_wants(name))
		remember(&sp_process->strays, name);
}

static void tell(struct sp_thread *t, const char *name)
{
	static const char note[] = SP_NOTE_TEXT("a program was started without LD_PRELOAD: neither it "
						"nor what it starts is observed");
	char line[sizeof(note) + NAME_BYTES];
	struct sp_text text = sp_text_init(line, sizeof(line));

	sp_text_add(&text, note);
	sp_text_add_char(&text, '\t');
	sp_text_add(&text, name);
	sp_define(t, SP_DEFINE_NOTE, 0, NULL, 0, line, strlen(line));
}

void sp_stray_tell(struct sp_thread *t)
{
	struct sp_strays *strays = &sp_process->strays;

	if (sp_likely(!__atomic_load_n(&strays->untold, __ATOMIC_RELAXED)) ||
	    !__atomic_exchange_n(&strays->untold, 0, __ATOMIC_ACQUIRE))
		return;
	for (uint32_t i = 0; i < SP_STRAYS_MAX; i++) {
		uint32_t state = UNTOLD;

		if (__atomic_compare_exchange_n(&strays->of[i].state, &state, TOLD, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			tell(t, strays->of[i].name);
	}
}
