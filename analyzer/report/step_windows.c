/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/step_windows.h"
#include "analyzer/training/training_account.h"

#include <stdlib.h>

static const struct sp_time_window nothing = {INT64_MAX, INT64_MIN};

static void span(struct sp_time_window *window, int64_t from_ns, int64_t to_ns)
{
	window->from_ns = from_ns < window->from_ns ? from_ns : window->from_ns;
	window->to_ns = to_ns > window->to_ns ? to_ns : window->to_ns;
}

static struct sp_time_window window_of(const struct sp_training *training,
				       const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;
	struct sp_time_window window = nothing;

	for (uint32_t i = 0; s->steps && i < s->count; i++)
		if (sp_step_is_selected(training, trainer, i))
			span(&window, s->steps[i].start_ns, s->steps[i].end_ns);
	for (uint32_t i = 0; s->pauses && i < s->pause_count; i++)
		if (s->pauses[i].step == s->count &&
		    sp_pause_is_selected(training, trainer, &s->pauses[i]))
			span(&window, s->pauses[i].start_ns, s->pauses[i].end_ns);
	return window;
}

struct sp_time_window *sp_step_windows_make(const struct sp_training *training)
{
	const struct sp_index *index = &training->run->index;
	struct sp_time_window *windows = malloc((index->image_count + 1u) * sizeof(*windows));
	struct sp_time_window all = nothing;

	if (!windows)
		return NULL;
	for (uint32_t i = 0; i < index->image_count; i++)
		windows[i] = nothing;
	for (uint32_t t = 0; t < training->count; t++) {
		struct sp_time_window one = window_of(training, &training->trainers[t]);

		span(&all, one.from_ns, one.to_ns);
		span(&windows[index->streams[training->trainers[t].stream]->image], one.from_ns,
		     one.to_ns);
	}
	for (uint32_t i = 0; i < index->image_count; i++) {
		if (!sp_training_of(training, i))
			windows[i] = all;
		if (windows[i].from_ns > windows[i].to_ns)
			windows[i] = (struct sp_time_window){training->run->begin_ns,
							     training->run->begin_ns};
	}
	return windows;
}
