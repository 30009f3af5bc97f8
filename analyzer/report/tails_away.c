/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/tails_away.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyzer/text/text.h"
#include "trace/format.h"

/* NULL: there are several. */
static const char *find_host(const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;
	const char *found = NULL;

	for (uint32_t i = 0; i < index->stream_count; i++) {
		const struct sp_stream *s = index->streams[i];
		const char *name;

		if (!sp_run_selects(&report->run, i) || !sp_stream_tail_is_away(s))
			continue;
		name = index->hosts[index->images[s->image].host].name;
		if (found && strcmp(found, name) != 0)
			return NULL;
		found = name;
	}
	return found;
}

static uint64_t place_here(void)
{
	struct utsname names;
	struct stat st;

	if (uname(&names) < 0 || stat("/proc/self/ns/ipc", &st) < 0)
		return 0;
	return sp_memory_place(names.nodename, strlen(names.nodename), st.st_ino);
}

/* A process of the run noted this place in the marker. */
static bool is_noted(const char *marker, uint64_t place)
{
	int fd = open(marker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct sp_memory_note note;
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, &note, sizeof(note), (off_t)sp_memory_note_at(place));
	close(fd);
	return n == (ssize_t)sizeof(note) && note.place == place;
}

bool sp_tails_were_here(const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;
	const char *found = find_host(report);
	uint64_t place = found ? place_here() : 0;
	struct utsname here;

	if (!place || uname(&here) < 0 || strcmp(found, here.nodename) != 0)
		return false;
	for (uint32_t i = 0; i < index->file_count; i++)
		if (index->files[i].runs && is_noted(index->files[i].path, place))
			return true;
	return false;
}

void sp_tails_away_host(const struct sp_report *report, char *ret, size_t bytes)
{
	const char *found = find_host(report);

	*ret = '\0';
	if (found)
		sp_text_escape(ret, bytes, found, strlen(found));
}
