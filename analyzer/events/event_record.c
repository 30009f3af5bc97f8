/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/events/event_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/reader/clock_convert.h"
#include "analyzer/events/merge.h"
#include "analyzer/metadata/gpu_kinds.h"

/* A stream's works follow each other without a gap: the end of one must not be rounded past the
 * next's start. */
static void end_where_the_next_may_begin(struct sp_record *r, const struct sp_clock *clock,
					 const struct sp_slot *slot)
{
	r->dur_ns =
		(uint64_t)(sp_clock_realtime_ns(clock, slot->start + slot->ticks) - r->start_ns);
}

/* Adds the words of an EXTRA slot that CUPTI filled; docs/FORMAT.md has their layout. */
static void add_extra(struct sp_record *r, const struct sp_event_info *info,
		      const struct sp_slot *extra)
{
	if (info->class == SP_CLASS_GPU_KERNEL || info->class == SP_CLASS_GPU_COPY ||
	    info->class == SP_CLASS_GPU_MEMSET) {
		r->is_gpu = true;
		r->device = (uint32_t)(extra->start >> 32);
		r->gpu_stream = (uint32_t)extra->start;
		r->correlation = (uint32_t)extra->ticks;
	} else if (info->class == SP_CLASS_CUDA_LAUNCH || info->class == SP_CLASS_CUDA_GRAPH ||
		   info->class == SP_CLASS_CUDA_COPY || info->class == SP_CLASS_CUDA_MEMSET) {
		r->correlation = (uint32_t)extra->start;
	}
}

static struct sp_record record_of(const struct sp_report *report, const struct sp_merged *e)
{
	const struct sp_stream *s = report->run.index.streams[e->stream];
	const struct sp_process_metadata *metadata = &report->run.metadata.images[s->image];
	uint32_t kind = sp_commit_kind(e->slot->commit), arg = sp_commit_arg(e->slot->commit);
	const struct sp_event_info *info = sp_event_info(kind);
	enum sp_fd_kind fd_kind = SP_FD_KIND_UNKNOWN;
	struct sp_record r = {
		.stream = e->stream,
		.kind = kind,
		.arg = arg,
		.start_ns = e->start_ns,
		.dur_ns = e->dur_ns,
		.value = e->slot->value,
	};

	if (info->arg == SP_ARG_FILE) {
		fd_kind = sp_process_fd_kind(metadata, arg);
		r.file = sp_process_file(metadata, arg);
	} else if (info->name &&
		   (info->class == SP_CLASS_CUDA_COPY || info->class == SP_CLASS_GPU_COPY)) {
		fd_kind = sp_fd_kind_of_copy(arg);
	} else if (info->arg == SP_ARG_NAME) {
		r.label = sp_process_label(metadata, arg);
	}
	r.stage = sp_stage_of(kind, fd_kind);
	if (info->name && e->extra)
		add_extra(&r, info, e->extra);
	if (r.is_gpu)
		end_where_the_next_may_begin(
			&r, &report->run.index.hosts[report->run.index.images[s->image].host].clock,
			e->slot);
	if (info->value == SP_VALUE_LINES && e->extra) {
		const struct sp_host *host =
			&report->run.index.hosts[report->run.index.images[s->image].host];

		r.has_image = true;
		r.inside_ns = sp_clock_span_ns(host->clock.ns_per_tick, e->extra->start);
		r.width = (uint32_t)(e->extra->ticks >> 32);
		r.height = (uint32_t)e->extra->ticks;
	}
	return r;
}

static bool is_selected(const struct sp_report *report, const struct sp_merged *e)
{
	const struct sp_stream *s = report->run.index.streams[e->stream];
	struct sp_tick_range span = sp_run_span(&report->run, s->image);

	return e->slot->start >= span.from_ticks && e->slot->start < span.to_ticks;
}

int sp_records_read(const struct sp_report *report,
		    int (*take)(void *context, const struct sp_record *record), void *context)
{
	struct sp_merged event;
	struct sp_merge merge;
	int r = sp_merge_init(&merge, report);

	while (r == 0) {
		struct sp_record record;

		r = sp_merge_next(&merge, &event);
		if (r <= 0)
			break;
		record = record_of(report, &event);
		r = is_selected(report, &event) ? take(context, &record) : 0;
	}
	sp_merge_finish(&merge);
	return r < 0 ? r : 0;
}

const char *sp_record_kind(const struct sp_record *record, char ret[SP_RECORD_KIND_BYTES])
{
	const char *name = sp_event_info(record->kind)->name;

	if (name)
		return name;
	snprintf(ret, SP_RECORD_KIND_BYTES, "kind-%" PRIu32, record->kind);
	return ret;
}

const char *sp_record_name(const struct sp_report *report, const struct sp_record *record,
			   char room[SP_RECORD_NAME_BYTES], size_t *ret_bytes)
{
	const char *kind, *label;

	if (record->label != SP_STRINGS_REST && sp_record_is_named(record)) {
		label = sp_string_table_text(&report->run.metadata.labels, record->label,
					     ret_bytes);
		return sp_label_spaced(room, label, ret_bytes);
	}
	kind = sp_record_kind(record, room);
	*ret_bytes = strlen(kind);
	return kind;
}

const char *sp_record_file(const struct sp_report *report, const struct sp_record *record,
			   size_t *ret_bytes)
{
	if (record->file != SP_STRINGS_REST)
		return sp_string_table_text(&report->run.metadata.files, record->file, ret_bytes);
	if (record->label != SP_STRINGS_REST && !sp_record_is_named(record))
		return sp_string_table_text(&report->run.metadata.labels, record->label, ret_bytes);
	return NULL;
}

bool sp_record_has_bytes(const struct sp_record *record)
{
	enum sp_value means = (enum sp_value)sp_event_info(record->kind)->value;

	return (means == SP_VALUE_BYTES || means == SP_VALUE_LENGTH) && record->value >= 0;
}

bool sp_record_has_communicator(const struct sp_record *record)
{
	const struct sp_event_info *info = sp_event_info(record->kind);

	return info->name && info->class == SP_CLASS_NCCL && info->arg == SP_ARG_ADDRESS &&
	       record->arg;
}

const char *sp_record_host_memory(const struct sp_record *record)
{
	bool is_copy = sp_event_info(record->kind)->class == SP_CLASS_CUDA_COPY;

	return is_copy ? sp_gpu_copy_host_memory(record->arg) : NULL;
}
