/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/run_frameworks.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/metadata/metadata.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

static const struct row {
	const char *name, *title;
	unsigned gives;
} rows[SP_FRAMEWORKS] = {
#define SP_FRAMEWORK(name, title, module, object, instead, gives)                                  \
	[SP_FRAMEWORK_##name] = {#name, title, gives},
#include "trace/frameworks.def"
#undef SP_FRAMEWORK
};

enum framework_state { LOADED, BOUND, PARTIAL };

/* "NAME" or "NAME VERSION" */
static void take_name(struct sp_frameworks *ret, const char *text, size_t bytes,
		      enum framework_state state)
{
	const char *space = memchr(text, ' ', bytes);
	size_t name = space ? (size_t)(space - text) : bytes;

	for (int i = 0; i < SP_FRAMEWORKS; i++) {
		struct sp_framework *f = &ret->of[i];

		if (strlen(rows[i].name) != name || memcmp(rows[i].name, text, name) != 0)
			continue;
		f->is_loaded = true;
		f->is_bound |= state == BOUND;
		f->is_partial |= state == PARTIAL;
		if (space && !*f->version)
			sp_text_escape(f->version, sizeof(f->version), space + 1, bytes - name - 1);
	}
}

void sp_frameworks_read(const struct sp_metadata *metadata, struct sp_frameworks *ret)
{
	static const char heads[][20] = {[LOADED] = SP_FRAMEWORK_GROUP "\tloaded\t",
					 [BOUND] = SP_FRAMEWORK_GROUP "\tbound\t",
					 [PARTIAL] = SP_FRAMEWORK_GROUP "\tpartial\t"};
	const struct sp_string_table *lines = &metadata->coverage.names;

	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = 1; i < lines->count; i++) {
		size_t bytes;
		const char *text = sp_string_table_text(lines, i, &bytes);

		for (int state = LOADED; state <= PARTIAL; state++) {
			size_t head = strlen(heads[state]);

			if (bytes > head && memcmp(text, heads[state], head) == 0)
				take_name(ret, text + head, bytes - head,
					  (enum framework_state)state);
		}
	}
}

unsigned sp_framework_gives(const struct sp_frameworks *frameworks, enum sp_framework_id id)
{
	unsigned parts = SP_GIVES_ALL | SP_GIVES_SOME_STEPS;

	return frameworks->of[id].is_bound ? rows[id].gives & parts : 0;
}

void sp_framework_text(const struct sp_frameworks *frameworks, enum sp_framework_id id,
		       char ret[SP_FRAMEWORK_TEXT_BYTES])
{
	const char *version = frameworks->of[id].version;

	snprintf(ret, SP_FRAMEWORK_TEXT_BYTES, "%s%s%s", _(rows[id].title), *version ? " " : "",
		 version);
}

/* True where it trains and its steps are not recorded. */
static bool trains_unseen(const struct sp_frameworks *frameworks, enum sp_framework_id id)
{
	return frameworks->of[id].is_loaded && !(rows[id].gives & SP_TRAINS_NOTHING) &&
	       !(sp_framework_gives(frameworks, id) & SP_GIVES_STEPS);
}

bool sp_frameworks_give_steps(const struct sp_frameworks *frameworks)
{
	return SP_ANY(i, SP_FRAMEWORKS,
		      sp_framework_gives(frameworks, (enum sp_framework_id)i) & SP_GIVES_STEPS);
}

/* libtorch is bound from its first recorded call on. */
bool sp_frameworks_are_partial(const struct sp_frameworks *frameworks)
{
	bool is_partial = frameworks->of[SP_FRAMEWORK_libtorch].is_bound;

	for (int i = 0; i < SP_FRAMEWORKS; i++)
		is_partial |= frameworks->of[i].is_partial;
	return is_partial;
}

unsigned sp_frameworks_unseen_text(const struct sp_frameworks *frameworks, char *ret,
				   size_t ret_bytes)
{
	size_t used = 0;
	unsigned count = 0;

	*ret = '\0';
	for (int i = 0; i < SP_FRAMEWORKS && used < ret_bytes; i++) {
		char text[SP_FRAMEWORK_TEXT_BYTES];

		if (!trains_unseen(frameworks, (enum sp_framework_id)i))
			continue;
		sp_framework_text(frameworks, (enum sp_framework_id)i, text);
		used += (size_t)snprintf(ret + used, ret_bytes - used, "%s%s",
					 count++ ? _(", ") : "", text);
	}
	return count;
}
