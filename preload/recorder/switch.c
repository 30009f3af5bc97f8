/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/switch.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "preload/files/run_file.h"
#include "preload/files/spare_memory.h"
#include "preload/sys/freeze.h"
#include "preload/settings/config.h"
#include "preload/settings/run_identity.h"
#include "preload/sys/hot_data.h"
#include "preload/sys/memory.h"
#include "preload/settings/setting.h"
#include "preload/sys/fd_private_task.h"
#include "preload/sys/sys.h"
#include "trace/format.h"

#define PAGE_BYTES 4096u

static uint32_t own_word; /* until the run's word is there, or for ever if there is none */
static uint32_t *shared = &own_word;
static int maps_files; /* only when asked: a store to a mapping could be SIGBUS */
static struct sp_spare_table *table;
static const uint32_t always_off = SP_SWITCH_WINDOW;

uint32_t sp_switch_mask SP_HOT_DATA = SP_SWITCH_USER | SP_SWITCH_WINDOW;
const uint32_t *sp_switch_word SP_HOT_DATA = &own_word;

static uint64_t first_step, end_step = UINT64_MAX; /* the window: end_step is not in it */
static uint64_t steps;
static int has_backward, was_by_steps;

void sp_switch_init(void)
{
	int kept = errno;

	if (sp_config.steps && sp_setting_steps(sp_config.steps, &first_step, &end_step) < 0) {
		first_step = 0;
		end_step = UINT64_MAX;
	}
	own_word = sp_switch_initial();
	errno = kept;
}

uint32_t sp_switch_initial(void)
{
	return first_step > 0 ? SP_SWITCH_WINDOW : 0;
}

static long marker_open(const char *marker)
{
	return SP_SYS4(SYS_openat, AT_FDCWD, marker, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
}

/* Another version of the recorder may have made a marker without a table. */
static int has_table(long fd)
{
	struct stat st;

	return SP_SYS2(SYS_fstat, fd, &st) == 0 && st.st_size >= SP_MARKER_BYTES;
}

static void marker_map(long fd, size_t bytes)
{
	long page = sp_pages_of_file(bytes, MAP_SHARED, fd, 0);

	if (sp_sys_failed(page))
		return;
	if (bytes == SP_MARKER_BYTES)
		table = (struct sp_spare_table *)(page + (long)SP_MARKER_TABLE_AT);
	shared = (uint32_t *)(page + (long)offsetof(struct sp_run_frame, off));
	/* A load would map all pages of the table that the kernel has at hand, a store maps one. */
	__atomic_fetch_or(shared, 0, __ATOMIC_RELAXED);
}

void sp_switch_join(const char *marker)
{
	long fd = marker_open(marker);

	if (fd < 0)
		return;
	maps_files = sp_config_is(sp_config.mode, "map") && sp_run_file_may_be_mapped(fd);
	if (maps_files)
		marker_map(fd, has_table(fd) ? SP_MARKER_BYTES : PAGE_BYTES);
	else if (has_table(fd))
		table = sp_spare_memory_join(fd, &shared);
	if (shared == &own_word)
		SP_SYS4(SYS_pread64, fd, &own_word, sizeof(own_word),
			(long)offsetof(struct sp_run_frame, off));
	__atomic_store_n(&sp_switch_word, shared, __ATOMIC_RELEASE);
	SP_SYS1(SYS_close, fd);
}

int sp_switch_maps_files(void)
{
	return maps_files;
}

struct sp_spare_table *sp_switch_spare_table(void)
{
	return table;
}

void sp_switch_forked(void)
{
	sp_switch_word = shared;
	sp_switch_mask = SP_SWITCH_USER | SP_SWITCH_WINDOW;
	steps = 0;
	has_backward = 0;
}

struct word_change {
	uint32_t set, clear;
};

/* The marker's word, which those read that join the run later. */
static void task_change(void *argument)
{
	const struct word_change *change = argument;
	char marker[SP_RUN_PATH_BYTES];
	const long at = (long)offsetof(struct sp_run_frame, off);
	uint32_t word;
	long fd;

	sp_run_marker(marker, sp_run.directory);
	fd = marker_open(marker);
	if (fd < 0)
		return;
	if (SP_SYS4(SYS_pread64, fd, &word, sizeof(word), at) == sizeof(word)) {
		word = (word & ~change->clear) | change->set;
		SP_SYS4(SYS_pwrite64, fd, &word, sizeof(word), at);
	}
	SP_SYS1(SYS_close, fd);
}

static void word_change(uint32_t set, uint32_t clear)
{
	struct word_change change = {set, clear};
	unsigned long before;

	__atomic_or_fetch(shared, set, __ATOMIC_RELAXED);
	__atomic_and_fetch(shared, ~clear, __ATOMIC_RELAXED);
	if (maps_files || sp_process_is_frozen())
		return;
	before = sp_signals_block();
	sp_fd_private_task(task_change, &change);
	sp_signals_restore(before);
}

/* This process follows its own steps. A process without steps follows the word. */
static void window_set(int on)
{
	was_by_steps = 1;
	__atomic_store_n(&sp_switch_mask, on ? SP_SWITCH_USER : SP_SWITCH_WINDOW, __ATOMIC_RELAXED);
	__atomic_store_n(&sp_switch_word, on ? shared : &always_off, __ATOMIC_RELEASE);
	word_change(on ? 0 : SP_SWITCH_WINDOW, on ? SP_SWITCH_WINDOW : 0);
}

void sp_switch_backward(void)
{
	__atomic_store_n(&has_backward, 1, __ATOMIC_RELAXED);
}

void sp_switch_step(void)
{
	uint64_t made;

	if (!__atomic_exchange_n(&has_backward, 0, __ATOMIC_RELAXED))
		return;
	made = __atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED);
	was_by_steps = 0;
	if (first_step == 0 && end_step == UINT64_MAX)
		return;
	if (made == 1 || made == first_step || made == end_step)
		window_set(made >= first_step && made < end_step);
}

uint64_t sp_switch_steps(void)
{
	return __atomic_load_n(&steps, __ATOMIC_RELAXED);
}

int sp_switch_was_by_steps(void)
{
	return was_by_steps;
}
