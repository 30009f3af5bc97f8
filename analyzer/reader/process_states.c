/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/process_states.h"

#include "analyzer/reader/host.h"
#include "trace/live_process.h"

/* False where the file has another header there, or none. */
static bool header_read(const struct sp_index *index, const struct sp_segment *g,
			struct sp_file_header *ret)
{
	const struct sp_file *file = &index->files[g->file];

	return g->header && !g->digested && file->memory_fd < 0 &&
	       sp_file_read_again(file, g->at, ret, sizeof(*ret)) &&
	       ret->header_hash == g->header->header_hash;
}

static void image_ending_read_again(struct sp_index *index, uint32_t image)
{
	uint64_t *ending = &index->images[image].ending, word;
	struct sp_file_header header;

	for (uint32_t i = sp_index_first_stream(index, image);
	     !*ending && i < index->stream_count && index->streams[i]->image == image; i++)
		for (const struct sp_segment *g = index->streams[i]->segments; !*ending && g;
		     g = g->next)
			if (header_read(index, g, &header) &&
			    sp_checked_read(header.ending, &word) == 0)
				*ending = word;
}

void sp_process_states_learn(struct sp_index *index)
{
	for (uint32_t i = 0; i < index->image_count; i++) {
		struct sp_process_image *image = &index->images[i];

		if (image->ending || !image->start_ns ||
		    !sp_host_is_this(&index->hosts[image->host]))
			continue;
		image->state = sp_live_state(image->pid, (int64_t)image->start_ns);
		if (!image->state)
			image_ending_read_again(index, i);
	}
}
