/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/range_stack.h"

#include "preload/recorder/intern.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/waits/thread_waits.h"

struct sp_range sp_range_begin(void)
{
	struct sp_range range = {0, 0};

	if (sp_likely(sp_enter() != NULL)) {
		range.image = sp_process->image_start_ns;
		range.start = sp_clock_ticks();
	}
	return range;
}

void sp_range_end(struct sp_range range, uint32_t kind, int64_t value, const char *text,
		  size_t bytes)
{
	uint64_t end = sp_clock_ticks();
	struct sp_thread *t = sp_enter();

	if (sp_likely(t && range.image == sp_process->image_start_ns))
		sp_emit(t, kind, sp_intern(t, text, bytes), range.start, end - range.start, value);
}

void sp_range_observe(const char *text, size_t bytes)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return;
	sp_intern(t, text, bytes);
	sp_waits_begin(t);
}

void sp_range_end_used(struct sp_range range, uint32_t kind, int64_t value, const char *text,
		       size_t bytes, const struct sp_call_rusage *before)
{
	uint64_t end = sp_clock_ticks(), words[3];
	struct sp_thread *t = sp_enter();
	struct sp_call_rusage after;

	if (!t || range.image != sp_process->image_start_ns)
		return;
	if (!sp_call_rusage_read(&after)) {
		sp_emit(t, kind, sp_intern(t, text, bytes), range.start, end - range.start, value);
		return;
	}
	sp_waits_end(t, range.start, end, after.minor - before->minor);
	sp_call_rusage_words(before, &after, words);
	sp_emit_extra(t, kind, sp_intern(t, text, bytes), range.start, end - range.start, value,
		      words);
}

void sp_range_end_named(struct sp_range range, uint32_t kind, uint32_t name)
{
	uint64_t end = sp_clock_ticks();
	struct sp_thread *t = sp_enter();

	if (sp_likely(t && range.image == sp_process->image_start_ns))
		sp_emit(t, kind, name, range.start, end - range.start, 0);
}
