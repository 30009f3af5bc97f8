#include "analyzer/saving.h"

#include "analyzer/report.h"
#include "trace/events.h"

static bool is_saving(const struct sp_image_facts *image, const struct sp_slot *slot)
{
	(void)image;
	return sp_commit_kind(slot->commit) == SP_EV_python_call && slot->value == SP_PART_checkpoint_save;
}

int sp_savings_read(struct sp_process_calls *savings, struct sp_reader *reader, const struct sp_report *report,
		    uint32_t stream)
{
	const struct sp_stream *own = report->index.streams[stream];

	return sp_process_calls_read(savings, reader, report, own->image, own->tid, is_saving);
}

bool sp_savings_held(const struct sp_process_calls *savings, int64_t from_ns, int64_t to_ns)
{
	for (uint32_t i = sp_process_calls_after(savings, from_ns); i < savings->count; i++) {
		const struct sp_process_call *s = &savings->list[i];
		int64_t since_ns = s->start_ns > from_ns ? s->start_ns : from_ns;

		if (s->end_ns > to_ns)
			break;
		if (s->end_ns - since_ns >= (to_ns - from_ns) / 2)
			return true;
	}
	return false;
}
