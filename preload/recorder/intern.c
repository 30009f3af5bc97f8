/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/intern.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/sys/paths.h"
#include "preload/recorder/emit.h"
#include "preload/recorder/process.h"
#include "preload/recorder/thread.h"

/* Paths of files are hashed with small seeds into the same table. */
#define NAME_SEED UINT64_C(0x6E616D65)
#define COVERAGE_BYTES 512u

static uint32_t name_define(struct sp_thread *t, const char *text, size_t bytes,
			    struct sp_interned *entry)
{
	uint32_t *count = &sp_process->name_ids, id;

	if (__atomic_load_n(count, __ATOMIC_RELAXED) >= SP_INTERN_MAX)
		return 0;
	id = __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	sp_define(t, SP_DEFINE_NAME, id, NULL, 0, text, bytes);
	if (entry)
		__atomic_store_n(&entry->id, id, __ATOMIC_RELEASE);
	return id;
}

uint32_t sp_intern(struct sp_thread *t, const char *text, size_t bytes)
{
	struct sp_interned *entry;
	uint32_t id = sp_process_intern(XXH64(text, bytes, NAME_SEED), &entry);

	return sp_likely(id != 0) ? id : name_define(t, text, bytes, entry);
}

void sp_coverage_library(const char *group, const char *path)
{
	const char *name = strrchr(path, '/');

	sp_coverage_add(group, "bound", name ? name + 1 : path);
}

int sp_coverage_is_new(uint64_t *reported)
{
	uint64_t image;

	if (!sp_process)
		return 0;
	image = sp_process->image_start_ns;
	if (!image)
		return 1; /* the report itself begins the image */
	return __atomic_load_n(reported, __ATOMIC_RELAXED) != image &&
	       __atomic_exchange_n(reported, image, __ATOMIC_RELAXED) != image;
}

void sp_coverage_add(const char *group, const char *state, const char *detail)
{
	struct sp_thread *t = sp_thread_even_off();
	char line[COVERAGE_BYTES];
	struct sp_text text = sp_text_init(line, sizeof(line));

	if (!t)
		return;
	sp_text_add(&text, group);
	sp_text_add_char(&text, '\t');
	sp_text_add(&text, state);
	sp_text_add_char(&text, '\t');
	sp_text_add(&text, detail);
	sp_define(t, SP_DEFINE_COVERAGE, 0, NULL, 0, line, strlen(line));
}
