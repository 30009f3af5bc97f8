/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/symbols/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/hash_free.h"
#include "analyzer/base/order.h"
#include "analyzer/reader/host.h"
#include "analyzer/symbols/symbolizer.h"

#define NAMES_MAX 16384u

struct sp_function {
	struct {
		uint64_t file, at;
	} key;
	uint32_t name; /* SP_STRINGS_REST: unknown */
	UT_hash_handle hh;
};

/*
 * The identity of an object's file: build id and path. Without a build id the process counts, too,
 * because the file must not have changed since then. The opening code reads the same bytes back.
 */
struct identity {
	uint64_t loaded_ns;
	uint32_t build_bytes;
	uint8_t build[SP_BUILD_ID_BYTES_MAX];
	char path[SP_NAME_BYTES_MAX + SP_SLOT_BLOB_BYTES];
};

#define IDENTITY_HEAD offsetof(struct identity, path)

/* SP_STRINGS_REST where the build is unknown. */
static uint32_t file_of(struct sp_functions *f, const struct sp_index *index,
			const struct sp_object *object)
{
	const struct sp_build *build = sp_build_of(f->calls, object);
	const struct sp_process_image *image = &index->images[object->image];
	struct identity identity = {0};

	if (!build || object->path[0] != '/' ||
	    (!build->bytes && !sp_host_is_this(&index->hosts[image->host])))
		return SP_STRINGS_REST;
	if (!build->bytes)
		identity.loaded_ns = image->start_ns;
	identity.build_bytes = build->bytes;
	memcpy(identity.build, build->id, build->bytes);
	strncpy(identity.path, object->path, sizeof(identity.path) - 1);
	return sp_string_table_add(&f->files, (const char *)&identity,
				   IDENTITY_HEAD + strlen(identity.path) + 1);
}

/* *ret: the file offset of the call that returns to the address, which lies in the byte before.
 * Returns the file. */
static uint32_t call_site_of(const struct sp_functions *f, uint32_t image, uint64_t address,
			     uint64_t *ret)
{
	const struct sp_object *object = sp_object_at(f->calls, image, address - 1);

	if (!object)
		return SP_STRINGS_REST;
	*ret = address - 1 - object->metadata.bias;
	return f->file_of[object - f->calls->objects];
}

static struct sp_function *function_at(const struct sp_functions *f, uint64_t file, uint64_t at)
{
	const struct {
		uint64_t file, at;
	} key = {file, at};
	struct sp_function *function;

	HASH_FIND(hh, f->by_site, &key, sizeof(key), function);
	return function;
}

static int want(struct sp_functions *f, uint32_t image, uint64_t address)
{
	uint64_t at, file = call_site_of(f, image, address, &at);
	struct sp_function *function;

	if (file == SP_STRINGS_REST || function_at(f, file, at) ||
	    HASH_COUNT(f->by_site) >= SP_FUNCTIONS_MAX)
		return 0;
	function = calloc(1, sizeof(*function));
	if (!function)
		return -ENOMEM;
	function->key.file = file;
	function->key.at = at;
	HASH_ADD(hh, f->by_site, key, sizeof(function->key), function);
	return 0;
}

static int want_all(struct sp_functions *f)
{
	const struct sp_stack *stack;
	int r = 0;

	for (stack = f->calls->stacks; stack && r == 0; stack = stack->hh.next)
		for (uint32_t i = 0; i < stack->count && i < SP_STACK_FRAMES_MAX && r == 0; i++)
			r = want(f, stack->key.image, stack->addresses[i]);
	return r;
}

static int compare_places(const struct sp_function *x, const struct sp_function *y)
{
	return SP_UP(key.file) ?: SP_UP(key.at);
}

/* The functions of one file, sorted by address. */
struct file_naming {
	struct sp_functions *functions;
	struct sp_function **list;
};

static void name_function(void *context, size_t i, const char *name)
{
	struct file_naming *naming = context;

	naming->list[i]->name = sp_string_table_add(&naming->functions->names, name, strlen(name));
}

/* A file that is missing or has changed gives no names. */
static int name_file(struct sp_functions *f, struct sp_function **list, size_t n)
{
	struct file_naming naming = {f, list};
	struct sp_symbol *wanted = calloc(n, sizeof(*wanted));
	struct sp_symbol_query query = {wanted, n, name_function, &naming};
	struct identity identity = {0};
	struct sp_program_file file = {.path = identity.path, .build = identity.build};
	size_t bytes;
	const char *text = sp_string_table_text(&f->files, (uint32_t)list[0]->key.file, &bytes);

	if (!wanted)
		return -ENOMEM;
	memcpy(&identity, text, bytes);
	file.build_bytes = identity.build_bytes;
	file.loaded_ns = identity.loaded_ns;
	for (size_t i = 0; i < n; i++)
		wanted[i].at = list[i]->key.at;
	sp_symbols_find(&file, &query);
	free(wanted);
	return 0;
}

static int name_all(struct sp_functions *f)
{
	size_t n = 0, count = HASH_COUNT(f->by_site);
	struct sp_function **list = calloc(count + 1, sizeof(*list)), *function;
	int r = list ? 0 : -ENOMEM;

	HASH_SORT(f->by_site, compare_places);
	for (function = f->by_site; list && function; function = function->hh.next)
		list[n++] = function;
	for (size_t i = 0, next; i < n && r == 0; i = next) {
		for (next = i + 1; next < n && list[next]->key.file == list[i]->key.file;)
			next++;
		r = name_file(f, list + i, next - i);
	}
	free(list);
	return r;
}

int sp_functions_find(struct sp_functions *f, const struct sp_slow_calls *calls,
		      const struct sp_index *index)
{
	int r;

	*f = (struct sp_functions){.calls = calls};
	f->file_of = calloc(calls->object_count + 1, sizeof(*f->file_of));
	r = f->file_of ? sp_string_table_init(&f->files, SP_SLOW_MAX + 1) : -ENOMEM;
	if (r == 0)
		r = sp_string_table_init(&f->names, NAMES_MAX);
	for (size_t i = 0; i < calls->object_count && r == 0; i++)
		f->file_of[i] = file_of(f, index, &calls->objects[i]);
	if (r == 0)
		r = want_all(f);
	if (r == 0)
		r = name_all(f);
	if (r < 0)
		sp_functions_finish(f);
	return r;
}

void sp_functions_finish(struct sp_functions *f)
{
	SP_HASH_FREE(f->by_site);
	free(f->file_of);
	sp_string_table_finish(&f->files);
	sp_string_table_finish(&f->names);
	*f = (struct sp_functions){.calls = NULL};
}

const char *sp_function_name(const struct sp_functions *f, uint32_t image, uint64_t address,
			     size_t *ret_bytes)
{
	const struct sp_function *function = NULL;
	uint64_t at, file;

	if (!f->by_site)
		return NULL;
	file = call_site_of(f, image, address, &at);
	if (file != SP_STRINGS_REST)
		function = function_at(f, file, at);
	if (!function || function->name == SP_STRINGS_REST)
		return NULL;
	return sp_string_table_text(&f->names, function->name, ret_bytes);
}
