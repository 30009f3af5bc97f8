/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/thread_past.h"

#include <errno.h>

#include "analyzer/reader/event_reader.h"
#include "analyzer/report/report.h"
#include "trace/events.h"

struct past_call {
	uint32_t kind;
	const struct sp_slot *slot;
	int64_t start_ns, end_ns;
};

typedef void take_call(void *context, const struct past_call *call);

static void walk(const struct sp_run *run, uint32_t stream, take_call *take, void *context)
{
	struct sp_event_reader events;
	struct sp_read_event event;
	struct sp_reader reader;

	if (sp_reader_init(&reader) == 0) {
		sp_event_reader_open(&events, &reader, &run->index, run->index.streams[stream]);
		while (sp_event_reader_next(&events, &event)) {
			struct past_call call = {event.kind, event.slot,
						 sp_event_start_ns(&events, &event),
						 sp_event_end_ns(&events, &event)};

			take(context, &call);
		}
	}
	sp_reader_finish(&reader);
}

/* A range is code, which may be anywhere in it; observed times lie in calls. */
static bool is_range(const struct past_call *call)
{
	enum sp_class class = sp_event_info(call->kind)->class;

	return class == SP_CLASS_RANGE || class == SP_CLASS_OFF_CORE || class == SP_CLASS_PAGE;
}

static bool is_given_up(const struct past_call *call)
{
	int64_t value = call->slot->value;

	if (call->kind == SP_EV_loader_next)
		return value & SP_LOADER_RAISED;
	return !is_range(call) && (value == -EINTR || value == SP_VALUE_ABANDONED);
}

struct looking_at {
	int64_t at_ns, call_ns, silent_ns; /* the start of the call; the end of the last one */
	int64_t moved_ns;		   /* what ends later tidies up */
	struct sp_thread_past past;
};

/* A signal for all processes reaches some earlier. */
static void look(void *context, const struct past_call *call)
{
	struct looking_at *l = context;
	int64_t until_ns = call->end_ns + (is_given_up(call) ? SP_THREAD_PAST_SIGNAL_NS : 0);
	bool is_in = call->start_ns <= l->at_ns && until_ns > l->at_ns && !is_range(call);

	/* Calls after the one that a signal left tidy up. */
	is_in = is_in && (!l->past.kind || l->past.has_ended || is_given_up(call));
	if (is_in && call->start_ns >= l->call_ns) {
		l->call_ns = call->start_ns;
		l->past.kind = call->kind;
		l->past.arg = sp_commit_arg(call->slot->commit);
		l->past.has_ended = !is_given_up(call);
	} else if (call->end_ns <= l->moved_ns && call->end_ns > l->silent_ns) {
		l->silent_ns = call->end_ns;
	}
}

struct sp_thread_past sp_thread_past_read(const struct sp_run *run, uint32_t stream, int64_t at_ns,
					  bool is_signal)
{
	struct looking_at l = {at_ns,
			       INT64_MIN,
			       INT64_MIN,
			       at_ns - (is_signal ? SP_THREAD_PAST_SIGNAL_NS : 0),
			       {.is_read = true}};

	walk(run, stream, look, &l);
	l.past.since_ns = l.past.kind ? l.call_ns : l.silent_ns;
	return l.past;
}

struct interruption {
	int64_t after_ns, least_ns;
	int64_t left_ns, waited_ns; /* the ends of calls that were given up, and of any wait */
};

static void interrupt(void *context, const struct past_call *call)
{
	struct interruption *i = context;
	bool is_wait = sp_event_info(call->kind)->class == SP_CLASS_WAIT;
	int64_t *end_ns = is_given_up(call) ? &i->left_ns : &i->waited_ns;

	if ((is_given_up(call) || is_wait) && call->start_ns >= i->after_ns &&
	    call->end_ns > *end_ns && call->end_ns - call->start_ns >= i->least_ns)
		*end_ns = call->end_ns;
}

int64_t sp_interruption_find(const struct sp_run *run, uint32_t stream, int64_t after_ns,
			     int64_t least_ns, bool has_failed)
{
	struct interruption i = {after_ns, least_ns, INT64_MIN, INT64_MIN};

	walk(run, stream, interrupt, &i);
	return i.left_ns == INT64_MIN && has_failed ? i.waited_ns : i.left_ns;
}

struct signalled {
	int64_t at_ns;
	bool is_so;
};

static void take_signal(void *context, const struct past_call *call)
{
	struct signalled *s = context;

	s->is_so |= !is_range(call) && call->slot->value == -EINTR && call->end_ns <= s->at_ns &&
		    call->end_ns > s->at_ns - SP_THREAD_PAST_SIGNAL_NS;
}

bool sp_signal_find(const struct sp_run *run, uint32_t stream, int64_t at_ns)
{
	struct signalled s = {at_ns, false};

	walk(run, stream, take_signal, &s);
	return s.is_so;
}

struct first_call {
	int64_t after_ns, start_ns;
};

static void take_first(void *context, const struct past_call *call)
{
	struct first_call *f = context;

	if (call->start_ns > f->after_ns && call->start_ns < f->start_ns)
		f->start_ns = call->start_ns;
}

int64_t sp_first_call_find(const struct sp_run *run, uint32_t stream, int64_t after_ns)
{
	struct first_call f = {after_ns, INT64_MAX};

	walk(run, stream, take_first, &f);
	return f.start_ns;
}
