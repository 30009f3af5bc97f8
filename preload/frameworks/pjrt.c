/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/pjrt.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "preload/frameworks/loaded_frameworks.h"
#include "preload/frameworks/range_stack.h"
#include "preload/recorder/process.h"
#include "preload/resolve/lookup_slots.h"
#include "preload/sys/memory.h"
#include "preload/sys/paths.h"
#include "trace/events.h"
#include "trace/frameworks.h"

#define PLUGINS 2u

/* PJRT_Api of pjrt_c_api.h, in words of 8 bytes: its size in bytes; extensions; the size and the
 * extensions of the version; major and minor; functions. These places are the same in
 * versions 0.33 and 0.90. A version with the same major number only adds to the end. */
enum {
	WORD_BYTES,
	WORD_VERSION_BYTES = 2,
	WORD_VERSION = 4,
	WORD_AWAIT = 13,
	WORD_COMPILE = 25,
	WORD_TO_DEVICE = 27,
	WORD_EXECUTE = 60,
	WORD_ON_DEVICE = 74,
	WORD_TO_HOST = 75,
	WORDS_LEAST = 97, /* of version 0.33 */
	WORDS_MOST = 1024,
};
#define VERSION_BYTES 24u
#define MINOR_LEAST 33

typedef void *pjrt_function(void *arguments);

static void *found[PLUGINS];
static const uintptr_t *sources[PLUGINS]; /* the plugins' own tables */
static uintptr_t *copies[PLUGINS];

static void *timed(unsigned plugin, unsigned word, void *arguments, uint32_t phase,
		   const char *label)
{
	const uintptr_t *table = __atomic_load_n(&sources[plugin], __ATOMIC_ACQUIRE);
	struct sp_range range = sp_range_begin();
	void *result = ((pjrt_function *)table[word])(arguments);
	int kept = errno;

	sp_range_end(range, SP_EV_python_call, phase, label, strlen(label));
	errno = kept;
	return result;
}

#define FUNCTIONS(F)                                                                               \
	F(AWAIT, device_wait, "pjrt wait")                                                         \
	F(COMPILE, compile, "pjrt compile")                                                        \
	F(TO_DEVICE, none, "pjrt copy to device")                                                  \
	F(EXECUTE, none, "pjrt execute")                                                           \
	F(ON_DEVICE, none, "pjrt copy between devices")                                            \
	F(TO_HOST, none, "pjrt copy to host")

#define TIMED(name, phase, label)                                                                  \
	static void *timed_##name##_0(void *arguments)                                             \
	{                                                                                          \
		return timed(0, WORD_##name, arguments, SP_PHASE_##phase, label);                  \
	}                                                                                          \
	static void *timed_##name##_1(void *arguments)                                             \
	{                                                                                          \
		return timed(1, WORD_##name, arguments, SP_PHASE_##phase, label);                  \
	}
FUNCTIONS(TIMED)

static int is_known(const uintptr_t *table)
{
	uint64_t words = table[WORD_BYTES] / sizeof(*table);

	return table[WORD_BYTES] % sizeof(*table) == 0 && words >= WORDS_LEAST &&
	       words <= WORDS_MOST && table[WORD_VERSION_BYTES] == VERSION_BYTES &&
	       (uint32_t)table[WORD_VERSION] == 0 &&
	       (int32_t)(table[WORD_VERSION] >> 32) >= MINOR_LEAST;
}

static void name(const uintptr_t *table, int gives)
{
	char version[32];
	struct sp_text text = sp_text_init(version, sizeof(version));

	if (table[WORD_VERSION_BYTES] == VERSION_BYTES) {
		sp_text_add_number(&text, (uint32_t)table[WORD_VERSION], 10);
		sp_text_add_char(&text, '.');
		sp_text_add_number(&text, table[WORD_VERSION] >> 32, 10);
	}
	sp_frameworks_imported(SP_FRAMEWORK_pjrt, version, gives);
}

/* Another plugin may come to the address of one that was closed. */
static int is_copy(const uintptr_t *copy, const uintptr_t *table)
{
	if (copy[WORD_BYTES] != table[WORD_BYTES])
		return 0;
	for (size_t i = 0; i < copy[WORD_BYTES] / sizeof(*copy); i++) {
#define OTHER(name, phase, label) &&i != WORD_##name
		if (copy[i] != table[i] FUNCTIONS(OTHER))
			return 0;
	}
	return 1;
}

static uintptr_t *copy_of(unsigned plugin, const uintptr_t *table)
{
	uintptr_t *copy = sp_pages_make(table[WORD_BYTES]);

	if (!copy)
		return NULL;
	memcpy(copy, table, table[WORD_BYTES]);
#define PLACE(name, phase, label)                                                                  \
	if (copy[WORD_##name])                                                                     \
		copy[WORD_##name] = (uintptr_t)(plugin ? timed_##name##_1 : timed_##name##_0);
	FUNCTIONS(PLACE)
	return copy;
}

static const uintptr_t *table_given(unsigned plugin)
{
	const uintptr_t *(*get)(void) =
		(const uintptr_t *(*)(void))__atomic_load_n(&found[plugin], __ATOMIC_ACQUIRE);
	const uintptr_t *table = get(), *none = NULL;
	uintptr_t *copy = __atomic_load_n(&copies[plugin], __ATOMIC_ACQUIRE);
	int kept = errno;

	if (!table || !sp_process)
		return table;
	if (!copy) {
		name(table, is_known(table));
		if (is_known(table) &&
		    __atomic_compare_exchange_n(&sources[plugin], &none, table, 0, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
			copy = copy_of(plugin, table);
			__atomic_store_n(&copies[plugin], copy, __ATOMIC_RELEASE);
		}
	}
	errno = kept;
	return copy && table == sources[plugin] && is_copy(copy, table) ? copy : table;
}

static const uintptr_t *table_given_0(void)
{
	return table_given(0);
}

static const uintptr_t *table_given_1(void)
{
	return table_given(1);
}

int sp_pjrt_knows(const char *name)
{
	return strcmp(name, "GetPjrtApi") == 0;
}

void *sp_pjrt_wrap(void *function)
{
	if (sp_lookup_slot_take(&found[0], function))
		return (void *)table_given_0;
	if (sp_lookup_slot_take(&found[1], function))
		return (void *)table_given_1;
	return function;
}
