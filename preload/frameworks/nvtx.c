/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/nvtx.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "preload/hooks/hook.h"
#include "preload/recorder/intern.h"
#include "preload/sys/paths.h"
#include "preload/sys/pool.h"
#include "preload/frameworks/range_stack.h"
#include "preload/sys/libdl.h"

#define VARIABLE "NVTX_INJECTION64_PATH"
#define OPEN_RANGES 4096u
#define LABEL_BYTES 512u
#define STRINGS_BYTES (256u * 1024u) /* registered strings and names of domains */

/* nvtx3/nvtxDetail/nvtxTypes.h and nvToolsExt.h */
enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum {
	CORE_START_EX = 4,
	CORE_START_A,
	CORE_START_W,
	CORE_END,
	CORE_PUSH_EX,
	CORE_PUSH_A,
	CORE_PUSH_W,
	CORE_POP,
};
enum {
	CORE2_START_EX = 2,
	CORE2_END,
	CORE2_PUSH_EX,
	CORE2_POP,
	CORE2_STRING_A = 10,
	CORE2_STRING_W,
	CORE2_DOMAIN_A,
	CORE2_DOMAIN_W,
};
enum { MESSAGE_ASCII = 1, MESSAGE_UNICODE = 2, MESSAGE_REGISTERED = 3 };
#define NO_TRACKING (-2) /* NVTX_NO_PUSH_POP_TRACKING */

struct attributes {
	uint16_t version, bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

typedef void (*function)(void);

struct callbacks {
	size_t struct_bytes;
	int (*table_get)(int module, function ***ret_table, unsigned *ret_count);
};

struct open_range {
	struct sp_range range;
	const void *domain;
	uint32_t name;	/* its number in the image of `range` */
	uint32_t below; /* the thread's pushed range before this one; 0: none */
	uint32_t uses;	/* of this entry: makes the ids of start and end differ */
};

static struct open_range ranges[OPEN_RANGES];
static uint32_t ranges_next[OPEN_RANGES];
static struct sp_pool ranges_pool = {.count = OPEN_RANGES, .next = ranges_next};
static __thread uint32_t top
	__attribute__((tls_model("initial-exec"))); /* of the thread's pushed ranges */

static char strings[STRINGS_BYTES];
static uint32_t strings_used;

/* Handles are addresses of copies; NULL when there is no room. */
static void *string_keep(const char *text)
{
	size_t bytes = strlen(text) + 1;
	uint32_t used = __atomic_load_n(&strings_used, __ATOMIC_RELAXED);

	do {
		if (bytes > STRINGS_BYTES - used)
			return NULL;
	} while (!__atomic_compare_exchange_n(&strings_used, &used, used + (uint32_t)bytes, 1,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return memcpy(strings + used, text, bytes);
}

/* UTF-8; wchar_t is a code point here. */
static void text_add_wide(struct sp_text *text, const wchar_t *wide)
{
	for (; wide && *wide; wide++) {
		uint32_t c = (uint32_t)*wide;
		char bytes[5] = {0};

		if (c < 0x80) {
			bytes[0] = (char)c;
		} else if (c < 0x800) {
			bytes[0] = (char)(0xC0 | c >> 6);
			bytes[1] = (char)(0x80 | (c & 0x3F));
		} else if (c < 0x10000) {
			bytes[0] = (char)(0xE0 | c >> 12);
			bytes[1] = (char)(0x80 | (c >> 6 & 0x3F));
			bytes[2] = (char)(0x80 | (c & 0x3F));
		} else {
			bytes[0] = (char)(0xF0 | (c >> 18 & 7));
			bytes[1] = (char)(0x80 | (c >> 12 & 0x3F));
			bytes[2] = (char)(0x80 | (c >> 6 & 0x3F));
			bytes[3] = (char)(0x80 | (c & 0x3F));
		}
		sp_text_add(text, bytes);
	}
}

static void text_add_message(struct sp_text *text, int type, const void *message)
{
	if (type == MESSAGE_UNICODE)
		text_add_wide(text, message);
	else if (message && (type == MESSAGE_ASCII || type == MESSAGE_REGISTERED))
		sp_text_add(text, message);
}

/* "message", or "domain: message" outside the default domain. */
static uint32_t name_of(struct sp_thread *t, const char *domain, int type, const void *message)
{
	char label[LABEL_BYTES];
	struct sp_text text = sp_text_init(label, sizeof(label));

	if (domain) {
		sp_text_add(&text, domain);
		sp_text_add(&text, ": ");
	}
	text_add_message(&text, type, message);
	return sp_intern(t, label, (size_t)(text.at - label));
}

/* Returns the entry of a range that begins now, 0 if there is none left. */
static uint32_t range_open(const void *domain, int type, const void *message)
{
	struct sp_thread *t = sp_enter();
	uint32_t place = t ? sp_pool_take(&ranges_pool) : 0;

	if (place) {
		struct open_range *open = &ranges[place - 1];

		open->domain = domain;
		open->name = name_of(t, domain, type, message);
		open->uses++;
		open->range = sp_range_begin();
	}
	return place;
}

static void range_close(uint32_t place)
{
	struct open_range open = ranges[place - 1];

	sp_pool_give(&ranges_pool, place);
	sp_range_end_named(open.range, SP_EV_nvtx_range, open.name);
}

static int push(const void *domain, int type, const void *message)
{
	uint32_t place = range_open(domain, type, message);
	int level = 0;

	if (!place)
		return NO_TRACKING;
	for (uint32_t at = top; at; at = ranges[at - 1].below)
		level += ranges[at - 1].domain == domain;
	ranges[place - 1].below = top;
	top = place;
	return level;
}

/* Each domain has a stack of its own; one list holds them all. */
static int pop(const void *domain)
{
	uint32_t *link = &top, place;
	int level = 0;

	while (*link && ranges[*link - 1].domain != domain)
		link = &ranges[*link - 1].below;
	place = *link;
	if (!place)
		return NO_TRACKING;
	*link = ranges[place - 1].below;
	for (uint32_t at = *link; at; at = ranges[at - 1].below)
		level += ranges[at - 1].domain == domain;
	range_close(place);
	return level;
}

static uint64_t start(const void *domain, int type, const void *message)
{
	uint32_t place = range_open(domain, type, message);

	return place ? (uint64_t)ranges[place - 1].uses << 32 | place : 0;
}

static void end(uint64_t id)
{
	uint32_t place = (uint32_t)id;
	uint32_t uses = (uint32_t)(id >> 32);

	if (place && place <= OPEN_RANGES &&
	    __atomic_compare_exchange_n(&ranges[place - 1].uses, &uses, uses + 1, 0,
					__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		range_close(place);
}

/* start() or push(): of the default domain, by each kind of message, and of a domain. */
#define BEGINNINGS(type, begin)                                                                    \
	static type core_##begin##_ex(const struct attributes *a)                                  \
	{                                                                                          \
		return begin(NULL, a->message_type, a->message);                                   \
	}                                                                                          \
	static type core_##begin##_a(const char *message)                                          \
	{                                                                                          \
		return begin(NULL, MESSAGE_ASCII, message);                                        \
	}                                                                                          \
	static type core_##begin##_w(const wchar_t *message)                                       \
	{                                                                                          \
		return begin(NULL, MESSAGE_UNICODE, message);                                      \
	}                                                                                          \
	static type domain_##begin(const void *domain, const struct attributes *a)                 \
	{                                                                                          \
		return begin(domain, a->message_type, a->message);                                 \
	}

BEGINNINGS(uint64_t, start)
BEGINNINGS(int, push)

static int core_pop(void)
{
	return pop(NULL);
}

static void domain_end(const void *domain, uint64_t id)
{
	(void)domain;
	end(id);
}

static void *string_a(const void *domain, const char *text)
{
	(void)domain;
	return string_keep(text ? text : "");
}

static void *string_w(const void *domain, const wchar_t *wide)
{
	char label[LABEL_BYTES];
	struct sp_text text = sp_text_init(label, sizeof(label));

	(void)domain;
	text_add_wide(&text, wide);
	return string_keep(label);
}

static void *domain_a(const char *name)
{
	return string_a(NULL, name);
}

static void *domain_w(const wchar_t *name)
{
	return string_w(NULL, name);
}

static const struct replacement {
	unsigned number;
	function function;
} core[] = {{CORE_START_EX, (function)core_start_ex}, {CORE_START_A, (function)core_start_a},
	    {CORE_START_W, (function)core_start_w},   {CORE_END, (function)end},
	    {CORE_PUSH_EX, (function)core_push_ex},   {CORE_PUSH_A, (function)core_push_a},
	    {CORE_PUSH_W, (function)core_push_w},     {CORE_POP, (function)core_pop}},
  core2[] = {{CORE2_START_EX, (function)domain_start}, {CORE2_END, (function)domain_end},
	     {CORE2_PUSH_EX, (function)domain_push},   {CORE2_POP, (function)pop},
	     {CORE2_STRING_A, (function)string_a},     {CORE2_STRING_W, (function)string_w},
	     {CORE2_DOMAIN_A, (function)domain_a},     {CORE2_DOMAIN_W, (function)domain_w}};

/* The module's table holds the addresses of its function pointers. Returns 0 where the module
 * has no table. */
static int replace(const struct callbacks *callbacks, int module, const struct replacement *ours,
		   size_t n)
{
	function **table;
	unsigned count;

	if (!callbacks->table_get(module, &table, &count))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (ours[i].number < count)
			*table[ours[i].number] = ours[i].function;
	return 1;
}

/* Each module of the host that uses NVTX calls this once. Returns 1 if the module is to call us. */
SP_EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));
int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id))
{
	const struct callbacks *callbacks = export_table(TABLE_CALLBACKS);

	if (!callbacks || callbacks->struct_bytes < sizeof(*callbacks) || !sp_enter())
		return 0;
	if (!replace(callbacks, MODULE_CORE, core, sizeof(core) / sizeof(*core)) ||
	    !replace(callbacks, MODULE_CORE2, core2, sizeof(core2) / sizeof(*core2)))
		return 0;
	sp_coverage_add("nvtx", "bound", "");
	return 1;
}

void sp_nvtx_init(void)
{
	Dl_info info;
	char *path;

	if (getenv(VARIABLE) || !sp_dladdr((void *)sp_nvtx_init, &info))
		return;
	/* A preload may be named by a relative path, and the host may change its folder. */
	path = realpath(info.dli_fname, NULL);
	if (path)
		setenv(VARIABLE, path, 0);
	free(path);
}
