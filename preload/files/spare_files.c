/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/files/spare_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/sys/paths.h"
#include "preload/sys/sys.h"

#define TURN_SHIFT 8
#define PID_SHIFT 32
/* Each asks the kernel for a process: a large run must not make a thread's beginning dear. */
#define DEAD_TRIES 32u

enum spare_state {
	STATE_NONE,
	STATE_BEGINNING, /* its fields are being stored to */
	STATE_HELD,	 /* by the process with that pid */
	STATE_SPARE
};

_Static_assert(sizeof(struct sp_spare_entry) == 64, "layout");
_Static_assert(SP_MARKER_TABLE_AT + sizeof(struct sp_spare_table) <= SP_MARKER_NOTES_AT, "layout");

static enum spare_state state_of(uint64_t word)
{
	return (enum spare_state)(word & 0xFF);
}

/* The turn makes words of one entry differ, so that fields read before a swap are those of it. */
static uint64_t next_word(uint64_t word, enum spare_state state, uint32_t pid)
{
	uint64_t turn = ((word >> TURN_SHIFT) + 1) & 0xFFFFFF;

	return (uint64_t)pid << PID_SHIFT | turn << TURN_SHIFT | (uint64_t)state;
}

static int swap(struct sp_spare_entry *entry, uint64_t word, enum spare_state state, uint32_t pid)
{
	return __atomic_compare_exchange_n(&entry->word, &word, next_word(word, state, pid), 0,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void sp_spare_files_init(struct sp_spare_files *files, struct sp_spare_table *table,
			 const char *host)
{
	struct stat st;

	files->table = NULL;
	files->host = host;
	files->host_hash = (uint32_t)XXH64(host, strlen(host), 0);
	files->pid = (uint32_t)SP_SYS1(SYS_getpid, 0);
	/* Processes know each other by pid: only inside of one namespace. */
	if (!table || SP_SYS4(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0) < 0)
		return;
	files->pid_namespace = (uint32_t)st.st_ino;
	files->table = table;
}

static uint32_t entries_used(const struct sp_spare_files *files)
{
	uint64_t used = __atomic_load_n(&files->table->used, __ATOMIC_ACQUIRE);

	return used < SP_SPARE_ENTRIES ? (uint32_t)used : SP_SPARE_ENTRIES;
}

static int is_near(const struct sp_spare_files *files, const struct sp_spare_entry *entry)
{
	return __atomic_load_n(&entry->pid_namespace, __ATOMIC_RELAXED) == files->pid_namespace &&
	       __atomic_load_n(&entry->host_hash, __ATOMIC_RELAXED) == files->host_hash;
}

static int is_dead(const struct sp_spare_files *files, uint64_t word)
{
	uint32_t pid = (uint32_t)(word >> PID_SHIFT);

	return pid && pid != files->pid && SP_SYS2(SYS_kill, pid, 0) == -ESRCH;
}

uint32_t sp_spare_take(const struct sp_spare_files *files, struct sp_spare_file *ret)
{
	uint32_t used = files->table ? entries_used(files) : 0, tries = 0;

	for (int dead = 0; dead < 2; dead++)
		for (uint32_t i = 0; i < used && tries < DEAD_TRIES; i++) {
			/* processes that begin at once begin at different entries */
			uint32_t at = dead ? (i + files->pid) % used : i;
			struct sp_spare_entry *entry = &files->table->entry[at];
			uint64_t word = __atomic_load_n(&entry->word, __ATOMIC_ACQUIRE);

			if (state_of(word) != (dead ? STATE_HELD : STATE_SPARE) ||
			    !is_near(files, entry))
				continue;
			tries += (uint32_t)dead;
			if ((dead && !is_dead(files, word)) ||
			    !swap(entry, word, STATE_HELD, files->pid))
				continue;
			*ret = entry->file;
			entry->file.end = 0;
			return at + 1;
		}
	return 0;
}

static void use_up_to(struct sp_spare_table *table, uint64_t count)
{
	uint64_t used = __atomic_load_n(&table->used, __ATOMIC_RELAXED);

	while (used < count && !__atomic_compare_exchange_n(&table->used, &used, count, 0,
							    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

uint32_t sp_spare_note(const struct sp_spare_files *files, const struct sp_spare_file *file)
{
	for (uint32_t i = 0; files->table && i < SP_SPARE_ENTRIES; i++) {
		struct sp_spare_entry *entry = &files->table->entry[i];
		uint64_t word = __atomic_load_n(&entry->word, __ATOMIC_RELAXED);

		if (state_of(word) != STATE_NONE || !swap(entry, word, STATE_BEGINNING, files->pid))
			continue;
		__atomic_store_n(&entry->pid_namespace, files->pid_namespace, __ATOMIC_RELAXED);
		__atomic_store_n(&entry->host_hash, files->host_hash, __ATOMIC_RELAXED);
		entry->file = *file;
		use_up_to(files->table, i + 1);
		word = __atomic_load_n(&entry->word, __ATOMIC_RELAXED);
		__atomic_store_n(&entry->word, next_word(word, STATE_HELD, files->pid),
				 __ATOMIC_RELEASE);
		return i + 1;
	}
	return 0;
}

static void leave(const struct sp_spare_files *files, uint32_t number, enum spare_state state)
{
	struct sp_spare_entry *entry;

	if (!number)
		return;
	entry = &files->table->entry[number - 1];
	__atomic_store_n(&entry->word,
			 next_word(__atomic_load_n(&entry->word, __ATOMIC_RELAXED), state, 0),
			 __ATOMIC_RELEASE);
}

void sp_spare_give(const struct sp_spare_files *files, uint32_t number, uint64_t end)
{
	if (number)
		files->table->entry[number - 1].file.end = end;
	leave(files, number, STATE_SPARE);
}

void sp_spare_forget(const struct sp_spare_files *files, uint32_t number)
{
	leave(files, number, STATE_NONE);
}

/* One that is missing, changed or full is not tried again. Another may have more space. */
static int is_spent(int error)
{
	return error == -ENOENT || error == -ESTALE || error == -ELOOP ||
	       (error == -EFBIG && sp_spare_most() == SP_SPARE_FILE_BYTES_MAX);
}

void sp_spare_return(const struct sp_spare_files *files, uint32_t number, uint64_t end, int error)
{
	if (is_spent(error))
		sp_spare_forget(files, number);
	else
		sp_spare_give(files, number, end);
}

uint64_t sp_spare_most(void)
{
	struct rlimit limit;

	if (SP_SYS4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit) < 0 ||
	    limit.rlim_cur > SP_SPARE_FILE_BYTES_MAX)
		return SP_SPARE_FILE_BYTES_MAX;
	return limit.rlim_cur;
}

void sp_spare_name_text(const char *host, const struct sp_spare_name *name, char *buffer,
			size_t bytes)
{
	struct sp_text text = sp_text_init(buffer, bytes);

	sp_text_add(&text, host);
	sp_text_add_char(&text, '-');
	sp_text_add_number(&text, name->pid, 10);
	sp_text_add_char(&text, '-');
	sp_text_add_number(&text, name->image_start_ns, 16);
	sp_text_add_char(&text, '-');
	sp_text_add_number(&text, name->tid, 10);
	if (name->segment) {
		sp_text_add_char(&text, '-');
		sp_text_add_number(&text, name->segment, 10);
	}
	if (name->continuation) {
		sp_text_add_char(&text, '_');
		sp_text_add_number(&text, name->continuation, 10);
	}
}
