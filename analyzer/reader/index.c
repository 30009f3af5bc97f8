/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyzer/base/each.h"
#include "analyzer/text/translate.h"

static const char *const damage_texts[] = {
	[SP_DAMAGE_NONE] = N_("whole"),
	[SP_DAMAGE_FOREIGN] = N_("not a stageprof trace"),
	[SP_DAMAGE_ORPHAN] = N_("zstd data that is no block of a stageprof trace"),
	[SP_DAMAGE_HEAD] = N_("damaged frame head"),
	[SP_DAMAGE_VERSION] = N_("written in another version of the format"),
	[SP_DAMAGE_CUT] = N_("ends inside a frame"),
	[SP_DAMAGE_PAYLOAD] = N_("damaged block"),
	[SP_DAMAGE_COUNT] = N_("damaged counter"),
	[SP_DAMAGE_READ] = N_("could not be read"),
};

const char *sp_damage_text(enum sp_damage what)
{
	return _(damage_texts[what]);
}

bool sp_file_read_again(const struct sp_file *file, uint64_t at, void *ret, size_t bytes)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = -1;

	if (fd >= 0) {
		n = pread(fd, ret, bytes, (off_t)at);
		close(fd);
	}
	return n == (ssize_t)bytes;
}

void sp_file_damaged(struct sp_file *file, enum sp_damage what, uint64_t at, uint64_t bytes)
{
	struct sp_file_damage *d = &file->damage;

	if (d->places == 0 || at < d->at) {
		d->at = at;
		d->what = what;
	}
	d->places++;
	d->bytes += bytes;
}

void sp_segment_free(struct sp_segment *segment)
{
	free(segment->header);
	if (segment->digested) {
		free(segment->digested->sums);
		sp_spill_free(segment->digested->spill, segment->digested->steps);
		free(segment->digested->about);
		free(segment->digested->tail);
		free(segment->digested->files);
	}
	free(segment->digested);
	free(segment);
}

static void free_segments(struct sp_segment *s)
{
	while (s) {
		struct sp_segment *next = s->next;

		sp_segment_free(s);
		s = next;
	}
}

bool sp_index_has_digested(const struct sp_index *index)
{
	return SP_ANY(i, index->stream_count, index->streams[i]->digested);
}

uint32_t sp_index_unread(const struct sp_index *index)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < index->file_count; i++) {
		const struct sp_file *f = &index->files[i];

		n += f->error || (f->damage.what == SP_DAMAGE_VERSION && !f->headers);
	}
	return n;
}

void sp_index_finish(struct sp_index *index)
{
	HASH_CLEAR(hh, index->by_id);
	for (uint32_t i = 0; i < index->stream_count + index->sampler_count; i++) {
		free_segments(index->streams[i]->segments);
		free(index->streams[i]->mark_path);
		free(index->streams[i]->lock);
		free(index->streams[i]);
	}
	for (uint32_t i = 0; i < index->file_count; i++) {
		free_segments(index->files[i].segments);
		free(index->files[i].path);
		free(index->files[i].calls);
		if (index->files[i].memory_fd >= 0)
			close(index->files[i].memory_fd);
	}
	free(index->streams);
	free(index->images);
	free(index->hosts);
	free(index->files);
	sp_spill_destroy(index->spill);
	*index = (struct sp_index){.files = NULL};
}

uint32_t sp_index_first_stream(const struct sp_index *index, uint32_t image)
{
	uint32_t low = 0, high = index->stream_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (index->streams[middle]->image < image)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool sp_index_is_child(const struct sp_process_image *child, const struct sp_process_image *parent)
{
	if (child->host != parent->host || child->ppid != parent->pid)
		return false;
	return !child->parent_start_ns || child->parent_start_ns == parent->start_ns;
}

uint32_t sp_index_parent(const struct sp_index *index, uint32_t image)
{
	uint32_t i = 0;

	while (i < index->image_count &&
	       (i == image || !sp_index_is_child(&index->images[image], &index->images[i])))
		i++;
	return i;
}

const struct sp_file *sp_index_newest_writer(const struct sp_index *index)
{
	const struct sp_file *newest = NULL;

	for (uint32_t i = 0; i < index->file_count; i++) {
		const struct sp_file *file = &index->files[i];

		if (file->newest_writer > (newest ? newest->newest_writer : 0))
			newest = file;
	}
	return newest;
}

const struct sp_file *sp_index_other_format(const struct sp_index *index)
{
	const struct sp_file *newest = NULL;

	for (uint32_t i = 0; i < index->file_count; i++) {
		const struct sp_file *file = &index->files[i];

		if (!file->is_digest &&
		    file->damage.version > (newest ? newest->damage.version : 0))
			newest = file;
	}
	return newest;
}
