/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/run_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/order.h"
#include "analyzer/text/spelling.h"
#include "analyzer/text/text.h"
#include "analyzer/views/view.h"

#define TYPING_ERRORS_MAX 2u

struct run_name {
	char name[SP_RUN_NAME_BYTES];
	struct timespec changed;
};

struct run_names {
	struct run_name *list;
	size_t count;
};

static bool has_ending(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && n < SP_RUN_NAME_BYTES && name[0] != '.' &&
	       strcmp(name + n - 4, ".zst") == 0;
}

SP_ORDER(newest_first, struct run_name,
	 SP_DOWN(changed.tv_sec) ?: SP_DOWN(changed.tv_nsec) ?: strverscmp(y->name, x->name))

static void add(struct run_names *names, const char *name, const struct stat *st)
{
	struct run_name *more = realloc(names->list, (names->count + 1) * sizeof(*more));

	if (!more)
		return;
	names->list = more;
	more[names->count] = (struct run_name){.changed = st->st_mtim};
	strcpy(more[names->count++].name, name);
}

/* Entries of the folder that end in .zst, newest first; the caller frees the list. */
static struct run_names names_in(const char *folder, const char *prefix, bool directories_only)
{
	struct run_names names = {NULL, 0};
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	struct stat st;

	while (directory && (entry = readdir(directory))) {
		if (!has_ending(entry->d_name) ||
		    strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
		    fstatat(dirfd(directory), entry->d_name, &st, 0) < 0)
			continue;
		if (S_ISDIR(st.st_mode) || (!directories_only && S_ISREG(st.st_mode)))
			add(&names, entry->d_name, &st);
	}
	if (directory)
		closedir(directory);
	if (names.count)
		qsort(names.list, names.count, sizeof(*names.list), newest_first);
	return names;
}

bool sp_run_newest(char ret[SP_RUN_NAME_BYTES])
{
	struct run_names names = names_in(".", "run", false);

	if (names.count)
		strcpy(ret, names.list[0].name);
	free(names.list);
	return names.count != 0;
}

bool sp_runs_in(const char *path, char ret[SP_RUN_LIST_BYTES])
{
	struct run_names names = names_in(path, "", true);
	const char *slash = *path && path[strlen(path) - 1] == '/' ? "" : "/";
	size_t used = 0;

	*ret = '\0';
	for (size_t i = 0; i < names.count && used + 2 * SP_RUN_NAME_BYTES < SP_RUN_LIST_BYTES;
	     i++) {
		char folder[SP_RUN_NAME_BYTES], name[SP_RUN_NAME_BYTES];

		sp_text_escape(folder, sizeof(folder), path, strlen(path));
		sp_text_escape(name, sizeof(name), names.list[i].name, strlen(names.list[i].name));
		used += (size_t)snprintf(ret + used, SP_RUN_LIST_BYTES - used, "%s%s%s%s",
					 used ? ", " : "", folder, slash, name);
	}
	free(names.list);
	return names.count != 0;
}

bool sp_word_is_lost(const char *word)
{
	struct stat st;

	return *word && !strpbrk(word, "./") && stat(word, &st) < 0 && errno == ENOENT;
}

const char *sp_view_meant(const char *word)
{
	static const char *const others[] = {"explain", "export"};
	unsigned best = strlen(word) / 2 < TYPING_ERRORS_MAX ? (unsigned)strlen(word) / 2 + 1
							     : TYPING_ERRORS_MAX + 1;
	const char *meant = NULL;

	for (unsigned i = 0; i < sp_view_count + 2; i++) {
		const char *name = i < sp_view_count ? sp_views[i].name : others[i - sp_view_count];
		unsigned errors = sp_typing_errors(word, name);

		if (errors < best) {
			best = errors;
			meant = name;
		}
	}
	return meant;
}
