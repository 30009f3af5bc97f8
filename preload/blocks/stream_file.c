/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/blocks/stream_file.h"

#include <errno.h>

#include "preload/sys/paths.h"

#define REPLACED_MAX 16u
#define SPARES_TRIED 4u

static void name_make(struct sp_stream_file *f, const struct sp_spare_name *of)
{
	f->named = *of;
	sp_spare_name_text(f->header.host, of, f->name, sizeof(f->name));
}

void sp_stream_file_leave(struct sp_stream_file *file)
{
	const struct sp_file_header *h = &file->header;
	const struct sp_spare_name own = {h->image_start_ns, h->pid, h->tid, h->segment,
					  file->replaced};

	file->spare = 0;
	file->tail.inode = (struct sp_inode){0, 0};
	file->tail.header_at = file->tail.bytes = 0;
	file->tail.end = SP_HEADER_FRAME_BYTES;
	name_make(file, &own);
}

void sp_stream_file_lose(struct sp_stream_file *file)
{
	sp_spare_forget(file->spares, file->spare);
	file->replaced++;
	sp_stream_file_leave(file);
}

void sp_stream_file_note(struct sp_stream_file *file)
{
	const struct sp_spare_file made = {file->named, file->tail.inode, 0};

	file->spare = sp_spare_note(file->spares, &made);
}

void sp_stream_file_name(const struct sp_stream_file *file, char *buffer, const char *prefix)
{
	struct sp_text name = sp_text_init(buffer, SP_STREAM_FILE_NAME_BYTES);

	sp_text_add(&name, prefix);
	sp_text_add(&name, file->name);
	sp_text_add(&name, ".zst");
}

int sp_stream_file_continue(struct sp_stream_file *file, int (*use)(void *context), void *context)
{
	struct sp_spare_file spare;
	uint32_t number = sp_spare_take(file->spares, &spare);
	int ret;

	if (!number)
		return -ENOENT;
	name_make(file, &spare.name);
	file->tail.inode = spare.inode;
	file->tail.end = spare.end;
	ret = use(context);
	if (!ret) {
		file->spare = number;
		return 0;
	}
	sp_spare_return(file->spares, number, file->tail.end, ret);
	sp_stream_file_leave(file);
	return ret;
}

struct appending {
	struct sp_stream_file *file;
	const struct sp_stream_blocks *blocks;
};

/* The header and the blocks go to the file's end. */
static int continue_written(void *context)
{
	const struct appending *a = context;
	char name[SP_STREAM_FILE_NAME_BYTES];
	const struct sp_tail_append append = {.name = name,
					      .words = a->blocks->words,
					      .frames = {{&a->file->header,
							  sizeof(a->file->header)},
							 a->blocks->frames},
					      .is_last = a->blocks->is_last};

	sp_stream_file_name(a->file, name, "");
	return sp_tail_file_continue_here(&a->file->tail, sp_spare_most(), &append);
}

static int file_fits(const struct sp_stream_file *file, const struct sp_stream_blocks *blocks)
{
	return sp_run_file_fits(file->tail.bytes + blocks->frames.count +
				2 * SP_RUN_FILE_PAGE_BYTES);
}

static int file_append(struct sp_stream_file *file, const struct sp_stream_blocks *blocks)
{
	char name[SP_STREAM_FILE_NAME_BYTES], temporary[SP_STREAM_FILE_NAME_BYTES];
	const struct sp_tail_append append = {.name = name,
					      .temporary = temporary,
					      .header = &file->header,
					      .words = blocks->words,
					      .frames = {blocks->frames},
					      .is_last = blocks->is_last};

	if (!file_fits(file, blocks))
		return -EFBIG;
	sp_stream_file_name(file, name, "");
	sp_stream_file_name(file, temporary, ".new-");
	return sp_tail_file_append_here(&file->tail, &append);
}

int sp_stream_file_append(struct sp_stream_file *file, const struct sp_stream_blocks *blocks)
{
	struct appending a = {file, blocks};
	int ret = -ESTALE;

	if (file->tail.bytes)
		return file_append(file, blocks);
	for (uint32_t i = 0; i < SPARES_TRIED && (ret == -ESTALE || ret == -EFBIG); i++)
		ret = sp_stream_file_continue(file, continue_written, &a);
	if (ret != -ENOENT && ret != -ESTALE && ret != -EFBIG)
		return ret;
	ret = file_append(file, blocks);
	if (!ret)
		sp_stream_file_note(file);
	return ret;
}

int sp_stream_file_append_somewhere(struct sp_stream_file *file,
				    const struct sp_stream_blocks *blocks)
{
	int ret = sp_stream_file_append(file, blocks);

	for (uint32_t i = 0; i < REPLACED_MAX && (ret == -ESTALE || ret == -EEXIST); i++) {
		sp_stream_file_lose(file);
		ret = sp_stream_file_append(file, blocks);
	}
	return ret;
}
