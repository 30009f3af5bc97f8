/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cupti.h"

#include <errno.h>
#include <stdlib.h>

#include "preload/settings/config.h"
#include "preload/cuda/cuda_time.h"
#include "preload/cuda/cupti_find.h"
#include "preload/cuda/cupti_records.h"
#include "preload/recorder/intern.h"
#include "preload/sys/paths.h"
#include "preload/recorder/process.h"
#include "preload/sys/sys.h"

#define GROUP "cupti"
#define DETAIL_BYTES 256u

enum state {
	NOT_YET,
	ATTACHING,
	ATTACHED,
	LEAVING,
	OVER,
};

static const uint32_t activities[] = {SP_CUPTI_KERNEL, SP_CUPTI_MEMCPY, SP_CUPTI_MEMCPY_PEER,
				      SP_CUPTI_MEMSET};
#define ACTIVITIES (sizeof(activities) / sizeof(activities[0]))

static const struct {
	uint32_t domain, first, last;
} calls[] = {
#define SP_CUPTI_CALLS(domain, first, last) {SP_CUPTI_##domain, first, last},
#include "preload/cuda/cupti_api.def"
#undef SP_CUPTI_CALLS
};

__thread struct sp_cupti_seen sp_cupti_seen;

static struct sp_cupti cupti;
static void *subscriber;
static uint32_t state; /* enum state */
static uint32_t pid;   /* the process that attached */

static int state_change(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&state, &from, to, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static int is_wanted(void)
{
	return sp_process && sp_config_is(sp_config.cupti, "1");
}

static int is_ours(void)
{
	return pid == (uint32_t)SP_SYS1(SYS_getpid, 0);
}

/* Also if the thread's calls are not recorded. */
static void coverage_add(const char *what, const char *detail)
{
	uint32_t depth = sp_tls.suppress_depth;

	sp_tls.suppress_depth = 0;
	sp_coverage_add(GROUP, what, detail);
	sp_tls.suppress_depth = depth;
}

/* "cuptiSubscribe: CUPTI error 15": `function` may be NULL. */
static void report(const char *what, const char *function, const char *reason,
		   const uint64_t *number)
{
	char detail[DETAIL_BYTES];
	struct sp_text text = sp_text_init(detail, sizeof(detail));

	if (function) {
		sp_text_add(&text, function);
		sp_text_add(&text, ": ");
	}
	sp_text_add(&text, reason);
	if (number)
		sp_text_add_number(&text, *number, 10);
	coverage_add(what, detail);
}

static int failed(const char *function, int error)
{
	uint64_t number = (uint64_t)error;

	if (error == SP_CUPTI_TAKEN)
		report("unobservable", function, "another tool uses CUPTI in this process", NULL);
	else if (error == SP_CUPTI_NOT_PERMITTED)
		report("failed", function, "not permitted on this machine (CUPTI error 35)", NULL);
	else
		report("failed", function, "CUPTI error ", &number);
	return -EIO;
}

/* On the thread that calls CUDA, inside the call. */
static void call_seen(void *user, uint32_t domain, uint32_t id,
		      const struct sp_cupti_call_data *data)
{
	struct sp_cupti_seen *seen = &sp_cupti_seen;
	struct sp_thread *t = sp_tls.thread;

	(void)user;
	(void)id;
	if (data->site != 0) {
		if (domain == SP_CUPTI_RUNTIME)
			seen->runtime = 0;
		return;
	}
	if (domain == SP_CUPTI_RUNTIME)
		seen->runtime = data->correlation;
	seen->correlation = seen->runtime ? seen->runtime : data->correlation;
	seen->ticks = sp_clock_ticks();
	sp_cupti_launch_note(seen->correlation, sp_thread_tid(t), seen->ticks, sp_switch_is_off());
}

void sp_cupti_span_close(struct sp_open_span *span, uint64_t end, int64_t value)
{
	struct sp_cupti_seen *seen = &sp_cupti_seen;
	uint64_t extra[3] = {seen->correlation, 0, 0};
	struct sp_thread *t = span->thread;

	seen->correlation = 0;
	if (seen->ticks < span->start) {
		sp_span_end_at(span, end, value);
		return;
	}
	sp_span_drop(span);
	if (t->mark)
		sp_emit_extra(t, sp_commit_kind(span->what), sp_commit_arg(span->what), span->start,
			      end - span->start, value, extra);
}

/* An older library refuses functions that its CUDA does not have. */
static void calls_watch(uint32_t enable)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (uint32_t id = calls[i].first; id <= calls[i].last; id++)
			cupti.cuptiEnableCallback(enable, subscriber, calls[i].domain, id);
}

static void activities_stop(unsigned count)
{
	while (count)
		cupti.cuptiActivityDisable(activities[--count]);
}

static int activities_start(void)
{
	int error = cupti.cuptiActivityRegisterCallbacks(sp_cupti_buffer_request,
							 sp_cupti_buffer_complete);

	if (error)
		return failed("cuptiActivityRegisterCallbacks", error);
	for (unsigned i = 0; i < ACTIVITIES; i++) {
		error = cupti.cuptiActivityEnable(activities[i]);
		if (!error)
			continue;
		activities_stop(i);
		return failed("cuptiActivityEnable", error);
	}
	return 0;
}

static int library_open(void)
{
	const char *missing;
	uint32_t version = 0;
	uint64_t number;
	int error = sp_cupti_find(&cupti, &missing);

	if (error && missing)
		report("failed", missing, "the library has no such function", NULL);
	else if (error)
		report("absent", NULL,
		       "no libcupti of this CUDA version was found (LD_LIBRARY_PATH)", NULL);
	if (error)
		return error;
	error = cupti.cuptiGetVersion(&version);
	if (error)
		return failed("cuptiGetVersion", error);
	number = version;
	if (!sp_cupti_version_is_known(version))
		report("unobservable", NULL, "records of an unknown version of CUPTI: ", &number);
	return sp_cupti_version_is_known(version) ? 0 : -ENOTSUP;
}

static int subscribe(void)
{
	int error = cupti.cuptiSubscribe(&subscriber, call_seen, NULL);

	if (error)
		return failed("cuptiSubscribe", error);
	error = sp_cupti_records_begin(&cupti);
	if (error)
		report("failed", NULL, "no memory for its buffers", NULL);
	else
		error = activities_start();
	if (error) {
		cupti.cuptiUnsubscribe(subscriber);
		return error;
	}
	calls_watch(1);
	return 0;
}

static void report_attached(void)
{
	char detail[DETAIL_BYTES];
	struct sp_text text = sp_text_init(detail, sizeof(detail));

	sp_text_add(&text, cupti.name);
	sp_text_add(&text, ", its clock and ours within ");
	sp_text_add_number(&text, sp_cupti_clock_error_ns(), 10);
	sp_text_add(&text, " ns");
	coverage_add("bound", detail);
}

static void leave(void)
{
	sp_tls.suppress_depth++;
	activities_stop(ACTIVITIES);
	cupti.cuptiActivityFlushAll(SP_CUPTI_FLUSH_FORCED);
	cupti.cuptiUnsubscribe(subscriber);
	sp_tls.suppress_depth--;
	sp_cupti_records_end();
}

/* Registered after CUPTI was opened, so that it runs before the exit functions of CUPTI and the
 * driver. */
static void end_at_exit(void)
{
	int kept = errno;

	if (is_ours() && state_change(ATTACHED, LEAVING)) {
		leave();
		__atomic_store_n(&state, OVER, __ATOMIC_RELEASE);
	}
	errno = kept;
}

void sp_cupti_attach(void)
{
	int kept = errno, error;

	if (!is_wanted() || sp_tls.suppress_depth || !state_change(NOT_YET, ATTACHING))
		return;
	pid = (uint32_t)SP_SYS1(SYS_getpid, 0);
	error = library_open();
	if (!error) {
		/* CUPTI's own calls on this thread are not calls of the program. */
		sp_tls.suppress_depth++;
		sp_cuda_slow_path_set(SP_CUDA_SLOW_PATH_CUPTI);
		error = subscribe();
		sp_tls.suppress_depth--;
	}
	if (!error) {
		report_attached();
		atexit(end_at_exit);
	}
	__atomic_store_n(&state, error ? OVER : ATTACHED, __ATOMIC_RELEASE);
	errno = kept;
}

void sp_cupti_yield(const char *function)
{
	int kept = errno;

	if (!is_wanted())
		return;
	if (state_change(NOT_YET, OVER)) {
		report("unobservable", function, "the program uses CUPTI itself", NULL);
	} else if (is_ours() && state_change(ATTACHED, LEAVING)) {
		leave();
		report("unobservable", function, "from then on the program used CUPTI itself",
		       NULL);
		__atomic_store_n(&state, OVER, __ATOMIC_RELEASE);
	}
	errno = kept;
}

void sp_cupti_end(void)
{
	const struct sp_thread *t = sp_tls.thread;

	if (is_wanted() && t && t->state == SP_THREAD_LIVE && state_change(NOT_YET, OVER))
		report("absent", NULL, "CUDA was not initialised in this process", NULL);
}
