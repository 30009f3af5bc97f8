/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/last_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/settings/run_identity.h"

#define FILE_BYTES_MAX (256u * 1024u)
#define ENTRIES_MAX 32u
#define WORDS_MAX 4096u

/*
 * The file: entries, the newest first. An entry is a struct entry and texts with their final NULs:
 * the directory, the options, the command.
 */
struct entry {
	uint32_t bytes; /* of the texts */
	uint32_t options, words;
};

struct buffer {
	char *bytes; /* FILE_BYTES_MAX of them */
	size_t used;
};

static bool put(struct buffer *buffer, const void *from, size_t bytes)
{
	if (bytes > FILE_BYTES_MAX - buffer->used)
		return false;
	memcpy(buffer->bytes + buffer->used, from, bytes);
	buffer->used += bytes;
	return true;
}

static bool put_words(struct buffer *buffer, char *const *words, uint32_t *ret_count)
{
	for (; *words; words++, ++*ret_count)
		if (*ret_count == WORDS_MAX || !put(buffer, *words, strlen(*words) + 1))
			return false;
	return true;
}

static bool put_entry(struct buffer *buffer, const char *directory,
		      const struct sp_last_command *last)
{
	struct entry entry = {0, 0, 0};
	size_t at = buffer->used, begin = at + sizeof(entry);

	if (!put(buffer, &entry, sizeof(entry)) || !put(buffer, directory, strlen(directory) + 1) ||
	    !put_words(buffer, last->options, &entry.options) ||
	    !put_words(buffer, last->command, &entry.words))
		return false;
	entry.bytes = (uint32_t)(buffer->used - begin);
	memcpy(buffer->bytes + at, &entry, sizeof(entry));
	return true;
}

/* Reads the entry at *at and moves on to the next. Returns its texts, or NULL where none follows
 * that is whole. */
static char *next_entry(const struct buffer *buffer, size_t *at, struct entry *ret)
{
	char *texts = buffer->bytes + *at + sizeof(*ret);

	if (buffer->used - *at < sizeof(*ret))
		return NULL;
	memcpy(ret, buffer->bytes + *at, sizeof(*ret));
	if (!ret->bytes || ret->bytes > buffer->used - *at - sizeof(*ret) ||
	    texts[ret->bytes - 1] != '\0')
		return NULL;
	*at += sizeof(*ret) + ret->bytes;
	return texts;
}

static bool is_own(const char *folder)
{
	struct stat st;

	return stat(folder, &st) == 0 && st.st_uid == geteuid();
}

/*
 * Makes the folders above the path's last name that are missing, below a folder of this user alone:
 * root with another user's HOME (sudo -E) leaves nothing there that this user could not use.
 * Returns whether the last of them is this user's.
 */
static bool make_folders(char *path)
{
	bool owns = false;

	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		owns = is_own(path) || (owns && mkdir(path, 0700) == 0);
		*at = '/';
	}
	return owns;
}

static int path_of(char ret[PATH_MAX])
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (state && *state == '/')
		n = snprintf(ret, PATH_MAX, "%s/stageprof/last-commands", state);
	else if (home && *home == '/')
		n = snprintf(ret, PATH_MAX, "%s/.local/state/stageprof/last-commands", home);
	return n < 0 ? -ENOENT : n >= PATH_MAX - 32 ? -ENAMETOOLONG : 0;
}

/* A file that another user may have written is none. */
static int read_file(const char *path, struct buffer *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		n = read(fd, ret->bytes, FILE_BYTES_MAX);
	close(fd);
	ret->used = n < 0 ? 0 : (size_t)n;
	return n < 0 ? -EPERM : 0;
}

/* Another launcher may store at the same time: the file is whole after either. */
static int write_file(char path[PATH_MAX], const struct buffer *from)
{
	char beside[PATH_MAX];
	int fd, r = 0;

	if (!make_folders(path))
		return -EPERM;
	snprintf(beside, sizeof(beside), "%.*s.XXXXXX", PATH_MAX - 32, path);
	fd = mkostemp(beside, O_CLOEXEC); /* containers that share a home may have one pid */
	if (fd < 0)
		return -errno;
	if (write(fd, from->bytes, from->used) != (ssize_t)from->used)
		r = -EIO;
	if (close(fd) < 0)
		r = -EIO;
	if (r == 0 && rename(beside, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(beside);
	return r;
}

/* Other directories keep theirs as far as there is room. */
static void put_others(struct buffer *buffer, const char *directory, const struct buffer *old)
{
	struct entry entry;
	uint32_t count = 1;
	size_t at = 0;

	for (char *texts; count < ENTRIES_MAX && (texts = next_entry(old, &at, &entry));) {
		if (strcmp(texts, directory) == 0)
			continue;
		if (sizeof(entry) + entry.bytes > FILE_BYTES_MAX - buffer->used)
			return;
		put(buffer, texts - sizeof(entry), sizeof(entry) + entry.bytes);
		count++;
	}
}

static int store(const char *directory, const struct sp_last_command *last, struct buffer *made,
		 struct buffer *old)
{
	char path[PATH_MAX];
	int r = path_of(path);
	bool fits;

	if (r < 0)
		return r;
	fits = put_entry(made, directory, last);
	if (!fits)
		made->used = 0;
	read_file(path, old);
	put_others(made, directory, old);
	r = write_file(path, made);
	return fits ? r : -E2BIG;
}

int sp_last_command_store(const struct sp_last_command *last)
{
	struct buffer made = {malloc(2u * FILE_BYTES_MAX), 0}, old = {NULL, 0};
	char directory[PATH_MAX];
	int r = -ENOMEM;

	if (strcmp(sp_run_rank(), "0") != 0)
		r = -EBUSY;
	else if (made.bytes && getcwd(directory, sizeof(directory))) {
		old.bytes = made.bytes + FILE_BYTES_MAX;
		r = store(directory, last, &made, &old);
	}
	free(made.bytes);
	return r;
}

/* Returns the list, whose texts are `count` of those at *at, and moves *at after them. */
static char **list_of(char **at, const char *end, uint32_t count)
{
	char **ret = count <= WORDS_MAX ? calloc(count + 1u, sizeof(*ret)) : NULL;

	for (uint32_t i = 0; ret && i < count; i++) {
		if (*at >= end) {
			free(ret);
			return NULL;
		}
		ret[i] = *at;
		*at += strlen(*at) + 1;
	}
	return ret;
}

static int load(struct buffer *buffer, struct sp_last_command *ret)
{
	char path[PATH_MAX], directory[PATH_MAX];
	struct entry entry;
	size_t at = 0;
	int r = path_of(path);

	if (r == 0)
		r = read_file(path, buffer);
	if (r == 0 && !getcwd(directory, sizeof(directory)))
		r = -errno;
	for (char *texts; r == 0 && (texts = next_entry(buffer, &at, &entry));) {
		const char *end = texts + entry.bytes;

		if (strcmp(texts, directory) != 0)
			continue;
		texts += strlen(texts) + 1;
		ret->options = list_of(&texts, end, entry.options);
		ret->command = list_of(&texts, end, entry.words);
		return ret->options && ret->command && ret->command[0] ? 0 : -ENOENT;
	}
	return r < 0 ? r : -ENOENT;
}

int sp_last_command_load(struct sp_last_command *ret)
{
	struct buffer buffer = {malloc(FILE_BYTES_MAX), 0};
	int r = buffer.bytes ? load(&buffer, ret) : -ENOMEM;

	if (r < 0)
		free(buffer.bytes);
	return r;
}
