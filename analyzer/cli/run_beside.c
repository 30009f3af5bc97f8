/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/run_beside.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cli/say.h"

#define SUFFIX ".zst"
#define MARKER "0-run-"
#define TOKEN_DIGITS 32u
#define OWN_DIGITS 16u /* the first of the token, where all numbers are taken */
#define NUMBERS_MAX 64 /* as preload/settings/run_identity.h */
/* A program that follows by exec imports for so long before its first event. */
#define STARTS_WITHIN_NS INT64_C(10000000000)

struct name {
	char stem[PATH_MAX];   /* of the path, without its suffix and number */
	const char *suffix;    /* ".zst" or "" */
	char marker[NAME_MAX]; /* of the run's folders */
};

/* Finds the name of the marker in the folder; false: there is none. */
static bool marker_find(const char *directory, char ret[NAME_MAX])
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	bool is_found = false;

	while (dir && !is_found && (entry = readdir(dir))) {
		const char *digits = entry->d_name + strlen(MARKER);

		is_found = strncmp(entry->d_name, MARKER, strlen(MARKER)) == 0 &&
			   strspn(digits, "0123456789abcdef") == TOKEN_DIGITS &&
			   strcmp(digits + TOKEN_DIGITS, SUFFIX) == 0;
		if (is_found)
			strcpy(ret, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return is_found;
}

/* The name of a symbolic link, of "." or ".." says nothing about the folder's neighbours. */
static bool path_copy(char ret[PATH_MAX], const char *path)
{
	size_t bytes = strlen(path);
	struct stat st;
	const char *last;

	while (bytes > 1 && path[bytes - 1] == '/')
		bytes--;
	if (bytes >= PATH_MAX / 2)
		return false;
	snprintf(ret, PATH_MAX, "%.*s", (int)bytes, path);
	last = strrchr(ret, '/') ? strrchr(ret, '/') + 1 : ret;
	if (strspn(last, "./") != strlen(last) && lstat(ret, &st) == 0 && !S_ISLNK(st.st_mode))
		return true;
	return realpath(path, ret) && strlen(ret) < PATH_MAX / 2;
}

static bool suffix_cut(char *path, const char *suffix)
{
	size_t bytes = strlen(path), cut = strlen(suffix);

	if (bytes <= cut || strcmp(path + bytes - cut, suffix) != 0)
		return false;
	path[bytes - cut] = 0;
	return true;
}

/* Cuts "-2" or the token's digits off; false where the path has no such end. */
static bool number_cut(char *stem, const char *marker)
{
	char own[OWN_DIGITS + 2];
	char *dash = strrchr(stem, '-');
	const char *digit = dash ? dash + 1 : "";

	snprintf(own, sizeof(own), "-%.*s", (int)OWN_DIGITS, marker + strlen(MARKER));
	if (suffix_cut(stem, own))
		return true;
	while (isdigit((unsigned char)*digit))
		digit++;
	if (!dash || *digit || digit == dash + 1 || digit > dash + 3)
		return false;
	*dash = 0;
	return true;
}

static bool is_given(const char *path, char *const *given)
{
	struct stat st, other;

	if (stat(path, &st) < 0)
		return false;
	for (; *given; given++)
		if (stat(*given, &other) == 0 && other.st_dev == st.st_dev &&
		    other.st_ino == st.st_ino)
			return true;
	return false;
}

static int list_add(struct sp_runs_beside *list, const char *path, bool is_closed)
{
	struct sp_run_beside *runs = realloc(list->runs, (list->count + 1) * sizeof(*list->runs));
	char *copy = strdup(path);

	list->runs = runs ? runs : list->runs;
	if (!runs || !copy) {
		free(copy);
		return -ENOMEM;
	}
	runs[list->count++] = (struct sp_run_beside){copy, is_closed};
	return 0;
}

static int candidate_add(struct sp_runs_beside *list, const char *path, const struct name *name,
			 char *const *given)
{
	char marker[PATH_MAX + 2 * NAME_MAX];
	bool is_there;

	snprintf(marker, sizeof(marker), "%s/%s", path, name->marker);
	is_there = access(marker, F_OK) == 0;
	if ((!is_there && errno != EACCES) || is_given(path, given))
		return 0;
	for (uint32_t i = 0; i < list->count; i++)
		if (strcmp(list->runs[i].path, path) == 0)
			return 0;
	return list_add(list, path, !is_there);
}

/* As the recorder numbers them (sp_run_candidate()). */
static int candidates_add(struct sp_runs_beside *list, const struct name *name, char *const *given)
{
	char path[PATH_MAX + NAME_MAX];
	int r;

	snprintf(path, sizeof(path), "%s%s", name->stem, name->suffix);
	r = candidate_add(list, path, name, given);
	for (int number = 2; r == 0 && number <= NUMBERS_MAX; number++) {
		snprintf(path, sizeof(path), "%s-%d%s", name->stem, number, name->suffix);
		r = candidate_add(list, path, name, given);
	}
	snprintf(path, sizeof(path), "%s-%.*s%s", name->stem, (int)OWN_DIGITS,
		 name->marker + strlen(MARKER), name->suffix);
	return r ? r : candidate_add(list, path, name, given);
}

int sp_runs_beside_find(struct sp_runs_beside *list, const char *path, char *const *given)
{
	struct name name;
	int r;

	if (!marker_find(path, name.marker) || !path_copy(name.stem, path))
		return 0;
	name.suffix = suffix_cut(name.stem, SUFFIX) ? SUFFIX : "";
	r = candidates_add(list, &name, given);
	if (r == 0 && number_cut(name.stem, name.marker))
		r = candidates_add(list, &name, given);
	return r;
}

void sp_runs_beside_finish(struct sp_runs_beside *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->runs[i].path);
	free(list->runs);
	*list = (struct sp_runs_beside){.count = 0};
}

/* Files appear in a folder while its processes begin. */
static bool changed_during(const char *path, const struct sp_report *report)
{
	struct stat st;
	int64_t at;

	if (!report->totals.events || stat(path, &st) < 0)
		return false;
	at = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
	return at >= report->run.begin_ns - STARTS_WITHIN_NS &&
	       at <= report->totals.end_ns + STARTS_WITHIN_NS;
}

void sp_runs_beside_say(const struct sp_runs_beside *list, const struct sp_report *report)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct sp_run_beside *run = &list->runs[i];

		if (!run->is_closed)
			sp_say_error(SP_REPORT_ERROR_run_beside, run->path, NULL);
		else if (changed_during(run->path, report))
			sp_say_error(SP_REPORT_ERROR_run_closed, run->path, NULL);
	}
}
