/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/ending.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/reader/call_paths.h"
#include "analyzer/sections/shown_part.h"
#include "analyzer/text/text.h"
#include "analyzer/totals/process_end.h"
#include "analyzer/hang/hang_text.h"
#include "analyzer/workers/thread_role.h"

#define TEXT_BYTES 256u
#define AFTER_BYTES (SP_NUMBER_BYTES + 32u)
#define NAME_BYTES 24u
#define OUTLIVES_NS INT64_C(1000000000)

/* As shells name them; others by their number. */
static const char *signal_name(unsigned number, char ret[NAME_BYTES])
{
	static const char *const names[] = {
		[1] = "SIGHUP",	  [2] = "SIGINT",   [3] = "SIGQUIT",  [4] = "SIGILL",
		[5] = "SIGTRAP",  [6] = "SIGABRT",  [7] = "SIGBUS",   [8] = "SIGFPE",
		[9] = "SIGKILL",  [10] = "SIGUSR1", [11] = "SIGSEGV", [12] = "SIGUSR2",
		[13] = "SIGPIPE", [14] = "SIGALRM", [15] = "SIGTERM",
	};

	if (number < sizeof(names) / sizeof(names[0]) && names[number])
		snprintf(ret, NAME_BYTES, "%s", names[number]);
	else
		snprintf(ret, NAME_BYTES, _("signal %u"), number);
	return ret;
}

static void how_text(const struct sp_process_end *end, const char *after, char *ret, size_t room)
{
	char name[NAME_BYTES];

	switch (end->how) {
	case SP_PROCESS_EXITED:
		if (end->status)
			snprintf(ret, room, _("failed with exit status %u after %s"), end->status,
				 after);
		else
			snprintf(ret, room, _("with success after %s"), after);
		break;
	case SP_PROCESS_SIGNALED:
		snprintf(ret, room, _("killed by %s after %s"), signal_name(end->status, name),
			 after);
		break;
	case SP_PROCESS_OOM:
		snprintf(ret, room, _("killed for lack of memory after %s"), after);
		break;
	case SP_PROCESS_ENDED:
		snprintf(ret, room, _("after %s; its exit status is not known"), after);
		break;
	case SP_PROCESS_KILLED:
		snprintf(ret, room,
			 end->is_seen ? _("killed soon after %s, when the launcher last saw it; no "
					  "end "
					  "was recorded")
				      : _("killed after %s; no end was recorded"),
			 after);
		break;
	case SP_PROCESS_RUNNING:
		snprintf(ret, room, _("not yet: the process runs (%s so far)"), after);
		break;
	case SP_PROCESS_STOPPED:
		snprintf(ret, room, _("not yet: the process is stopped by a signal (%s so far)"),
			 after);
		break;
	case SP_PROCESS_DISK_FULL:
		snprintf(ret, room, _("not recorded: the trace could not grow after %s"), after);
		break;
	case SP_PROCESS_UNKNOWN:
	case SP_PROCESS_HOWS:
		snprintf(ret, room,
			 end->is_seen ? _("not recorded: killed, or it still runs; the launcher "
					  "last saw it after %s")
				      : _("not recorded: killed, or it still runs (%s so far)"),
			 after);
		break;
	}
}

/* The process image that stands for the run; UINT32_MAX: there is none. */
static uint32_t main_image(const struct sp_report *report)
{
	const struct sp_trainer *trainer = sp_training_main(&report->training);

	if (trainer)
		return report->run.index.streams[trainer->stream]->image;
	for (uint32_t i = 0; i < report->run.index.image_count; i++)
		if (!report->run.index.images[i].is_replaced)
			return i;
	return UINT32_MAX;
}

/* Since the run's begin. */
static void after_text(const struct sp_report *report, int64_t at_ns, char ret[SP_NUMBER_BYTES])
{
	sp_text_ns(ret,
		   at_ns > report->run.begin_ns ? (uint64_t)(at_ns - report->run.begin_ns) : 0);
}

/* The events after a selection, which are not read, may be later. */
static void add_more(char ret[AFTER_BYTES])
{
	char time[AFTER_BYTES];

	snprintf(time, sizeof(time), "%s", ret);
	snprintf(ret, AFTER_BYTES, _("%s or more"), time);
}

/* A process that trains, or may yet, after the command that
 * began it has ended, as a daemon does. */
static bool outlives(const struct sp_report *report, uint32_t image,
		     const struct sp_command_end *command, const struct sp_process_end *end)
{
	if (!command->is_known || image == UINT32_MAX ||
	    report->run.index.images[image].pid == command->pid)
		return false;
	return end->how == SP_PROCESS_RUNNING || end->how == SP_PROCESS_STOPPED ||
	       end->at_ns > command->end.at_ns + OUTLIVES_NS;
}

static bool has_failed(const struct sp_process_end *end)
{
	switch (end->how) {
	case SP_PROCESS_EXITED:
		return end->status != 0;
	case SP_PROCESS_SIGNALED:
	case SP_PROCESS_OOM:
	case SP_PROCESS_KILLED:
		return true;
	default:
		return false;
	}
}

/* A command may end with success though a training that it began failed, as in a sweep. */
static uint32_t failed_trainers(const struct sp_report *report)
{
	uint32_t failed = 0, last = UINT32_MAX;

	for (uint32_t t = 0; t < report->training.count; t++) {
		uint32_t stream = report->training.trainers[t].stream;
		uint32_t image = report->run.index.streams[stream]->image;
		struct sp_process_end end;

		if (image == last)
			continue;
		last = image;
		end = sp_process_end_of(&report->run, &report->totals, image);
		failed += has_failed(&end);
	}
	return failed;
}

/* The process whose last event is the last of the run. */
static uint32_t last_image(const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;
	int64_t last_ns = INT64_MIN;
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < index->stream_count; i++) {
		int64_t end_ns = sp_stream_end_ns(&report->run, &report->totals, i);

		if (index->images[index->streams[i]->image].is_sampler || end_ns <= last_ns)
			continue;
		last_ns = end_ns;
		last = index->streams[i]->image;
	}
	return last;
}

/* Without a training and a launcher the first process may be one of many that follow each other, as
 * those of a script: the run ends with the last one. */
static bool take_last(const struct sp_report *report, struct sp_process_end *end)
{
	uint32_t last = last_image(report);
	struct sp_process_end end_of_last;

	if (sp_training_main(&report->training) || last == UINT32_MAX ||
	    end->how == SP_PROCESS_RUNNING || end->how == SP_PROCESS_STOPPED)
		return false;
	end_of_last = sp_process_end_of(&report->run, &report->totals, last);
	if (end_of_last.at_ns <= end->at_ns + OUTLIVES_NS)
		return false;
	*end = end_of_last;
	return true;
}

static bool is_killed(const struct sp_process_end *end)
{
	return end->how == SP_PROCESS_KILLED || end->how == SP_PROCESS_SIGNALED ||
	       end->how == SP_PROCESS_OOM;
}

/* The image of a worker that was killed, and ended as the first of the workers: a loader that gives
 * up ends the others. UINT32_MAX: there is none. */
static uint32_t killed_worker(const struct sp_report *report)
{
	uint32_t first = UINT32_MAX;
	int64_t first_ns = INT64_MAX;
	bool was_killed = false;

	for (uint32_t i = 0; i < report->workers.count; i++) {
		const struct sp_worker *w = &report->workers.list[i];
		uint32_t image = report->run.index.streams[w->stream]->image;
		struct sp_process_end end;

		if (w->is_trainer)
			continue;
		end = sp_process_end_of(&report->run, &report->totals, image);
		if (end.at_ns >= first_ns)
			continue;
		first = image;
		first_ns = end.at_ns;
		was_killed = is_killed(&end);
	}
	return was_killed ? first : UINT32_MAX;
}

struct run_end {
	struct sp_process_end end;
	bool is_outlived;     /* the command ended before the process that trains */
	bool is_last_of_many; /* `end` is of the last of processes that follow each other */
};

static struct run_end find_end(const struct sp_report *report, const struct sp_command_end *command,
			       uint32_t image)
{
	struct run_end ret = {.end = command->end};

	if (image != UINT32_MAX)
		ret.end = sp_process_end_of(&report->run, &report->totals, image);
	ret.is_outlived = outlives(report, image, command, &ret.end);
	if (command->is_known) {
		if (!ret.is_outlived)
			ret.end = command->end;
		return ret;
	}
	ret.is_last_of_many = take_last(report, &ret.end);
	sp_process_end_seen(&ret.end, sp_command_seen_ns(&report->run, &report->totals));
	return ret;
}

/* The thread whose process held more at its last sample than at its first, by the most;
 * UINT32_MAX: none did. */
static uint32_t grown_stream(const struct sp_report *report, uint64_t *ret_bytes)
{
	uint32_t most = UINT32_MAX;

	*ret_bytes = 0;
	for (uint32_t i = 0; i < report->run.index.stream_count; i++) {
		const struct sp_memory_samples *r = &report->totals.streams[i].resident;
		uint64_t first = r->count ? r->list[0].bytes : 0,
			 last = r->count ? r->list[r->count - 1].bytes : 0;

		if (last <= first || last - first <= *ret_bytes)
			continue;
		*ret_bytes = last - first;
		most = i;
	}
	return most;
}

static void add_lack_of_memory(const struct sp_report *report, uint64_t kills, const char *text,
			       char *ret, size_t ret_bytes)
{
	char number[SP_NUMBER_BYTES];
	uint64_t grown = 0;
	uint32_t stream = report->totals.streams ? grown_stream(report, &grown) : UINT32_MAX;

	if (stream == UINT32_MAX) {
		snprintf(ret, ret_bytes, _("%s; processes killed for lack of memory: %s"), text,
			 sp_text_count(number, kills));
		return;
	}
	sp_text_bytes(number, grown);
	snprintf(ret, ret_bytes, _("%s; out of memory: process %u grew by %s"), text,
		 report->run.index.images[report->run.index.streams[stream]->image].pid, number);
}

/* The text, and one more fact about other processes where there is one. */
static void add_others(const struct sp_report *report, const struct sp_command_end *command,
		       const struct run_end *run, const char *text, char *ret, size_t ret_bytes)
{
	char after[AFTER_BYTES], number[SP_NUMBER_BYTES];
	uint32_t failed, killed;

	if (run->is_last_of_many) {
		snprintf(ret, ret_bytes, _("%s; the last of %s processes"), text,
			 sp_text_count(number, report->totals.processes));
		return;
	}
	if (run->is_outlived) {
		after_text(report, command->end.at_ns, after);
		snprintf(ret, ret_bytes, _("%s; the command ended after %s"), text, after);
		return;
	}
	if (command->is_known && command->oom_kills) {
		add_lack_of_memory(report, command->oom_kills, text, ret, ret_bytes);
		return;
	}
	if (has_failed(&run->end) && report->workers.full_shm_pid) {
		snprintf(ret, ret_bytes, _("%s; /dev/shm was full for process %u"), text,
			 report->workers.full_shm_pid);
		return;
	}
	/* A kill of the whole job kills its workers, too. */
	killed = run->end.how == SP_PROCESS_EXITED && run->end.status ? killed_worker(report)
								      : UINT32_MAX;
	if (killed != UINT32_MAX) {
		snprintf(ret, ret_bytes, _("%s; worker %u had been killed"), text,
			 report->run.index.images[killed].pid);
		return;
	}
	failed = command->is_known && !has_failed(&command->end) ? failed_trainers(report) : 0;
	if (failed)
		snprintf(ret, ret_bytes, _("%s; training processes that failed or were killed: %s"),
			 text, sp_text_count(number, failed));
	else
		snprintf(ret, ret_bytes, "%s", text);
}

void sp_ending_text(const struct sp_report *report, char *ret, size_t ret_bytes)
{
	struct sp_command_end command = sp_command_end_of(&report->run);
	uint32_t image = main_image(report);
	char after[AFTER_BYTES], text[TEXT_BYTES];
	struct run_end run;

	*ret = '\0';
	if (!command.is_known && image == UINT32_MAX)
		return;
	run = find_end(report, &command, image);
	after_text(report, run.end.at_ns, after);
	if (!command.is_known && sp_selection_text(report, text, sizeof(text)))
		add_more(after);
	how_text(&run.end, after, text, sizeof(text));
	add_others(report, &command, &run, text, ret, ret_bytes);
}

/* "trainer", "worker", "command" or "other". */
static const char *role_of(const struct sp_report *report, uint32_t image,
			   const struct sp_command_end *command)
{
	const struct sp_index *index = &report->run.index;
	const struct sp_process_image *it = &index->images[image];

	for (uint32_t i = sp_index_first_stream(index, image);
	     i < index->stream_count && index->streams[i]->image == image; i++) {
		const char *role;

		if (index->streams[i]->tid != it->pid)
			continue;
		role = sp_role_of(&report->training, i);
		if (strcmp(role, "trainer") == 0 || strcmp(role, "worker") == 0)
			return role;
	}
	return command->is_known && command->pid == it->pid ? "command" : "other";
}

static int end_row(struct sp_out *out, int64_t begin_ns, uint32_t pid, const char *role,
		   const struct sp_process_end *end)
{
	bool is_over = end->how != SP_PROCESS_RUNNING && end->how != SP_PROCESS_STOPPED &&
		       end->how != SP_PROCESS_UNKNOWN && end->how != SP_PROCESS_DISK_FULL;
	bool has_signal = end->how == SP_PROCESS_SIGNALED || end->how == SP_PROCESS_OOM;
	const struct sp_cell cells[] = {
		sp_cell_count(pid),
		sp_cell_text(role),
		sp_cell_text(sp_process_how_name(end->how)),
		end->how == SP_PROCESS_EXITED ? sp_cell_count(end->status) : sp_cell_null(),
		has_signal ? sp_cell_count(end->status) : sp_cell_null(),
		is_over ? sp_cell_signed(end->at_ns - begin_ns) : sp_cell_null(),
	};

	return sp_out_row(out, cells);
}

static void put_text(struct sp_json *j, const char *key, const char *text)
{
	if (*text)
		sp_json_string(j, key, text, strlen(text));
	else
		sp_json_null(j, key);
}

static void put_number(struct sp_json *j, const char *key, uint32_t number)
{
	if (number)
		sp_json_count(j, key, number);
	else
		sp_json_null(j, key);
}

static void lock_json(const struct sp_live_lock *lock, struct sp_json *j)
{
	static const char *const names[] = {
		[SP_LIVE_LOCK_NONE] = "",
		[SP_LIVE_LOCK_FILE] = "file",
		[SP_LIVE_LOCK_MUTEX] = "mutex",
		[SP_LIVE_LOCK_COPIED] = "mutex-copied-by-fork",
		[SP_LIVE_LOCK_SHARED] = "mutex-of-processes",
		[SP_LIVE_LOCK_ALONE] = "only-thread",
	};
	bool is_inferred = lock->what && lock->what != SP_LIVE_LOCK_FILE;

	put_text(j, "lock", names[lock->what]);
	put_text(j, "lock_file", lock->file);
	sp_json_bool(j, "file_lock", lock->what == SP_LIVE_LOCK_FILE);
	put_number(j, "lock_holder_pid", lock->holder);
	put_number(j, "lock_holder_tid", lock->holder_tid);
	put_text(j, "lock_holder_name", lock->holder_is);
	sp_json_bool(j, "lock_inferred", is_inferred);
}

static void link_json(const struct sp_report *report, const struct sp_hang_link *link,
		      struct sp_json *j)
{
	const struct sp_stream *s = report->run.index.streams[link->stream];
	const char *call = link->kind ? sp_event_info(link->kind)->name : NULL;
	const char *missing = sp_path_missing_name(link->missing);
	char role[SP_HANG_NAME_BYTES];

	sp_json_open(j, NULL, '{');
	sp_json_count(j, "pid", report->run.index.images[s->image].pid);
	sp_json_count(j, "tid", s->tid);
	sp_hang_role_name(link, role);
	sp_json_string(j, "role", role, strlen(role));
	put_text(j, "call", call ? call : "");
	put_text(j, "file", link->file);
	put_text(j, "file_missing", missing ? missing : "");
	sp_json_count(j, "for_ns", link->for_ns);
	sp_json_bool(j, "stopped", link->is_stopped);
	lock_json(&link->lock, j);
	sp_json_close(j, '}');
}

void sp_ending_hang_json(const struct sp_report *report, struct sp_json *j)
{
	struct sp_hang hang;

	sp_hang_find(report, &hang);
	if (!hang.is_hung) {
		sp_json_null(j, "hang");
		return;
	}
	sp_json_open(j, "hang", '{');
	sp_json_signed(j, "since_ns", hang.since_ns - report->run.begin_ns);
	sp_json_count(j, "for_ns", hang.for_ns);
	sp_json_open(j, "chain", '[');
	for (uint32_t i = 0; i < hang.count; i++)
		link_json(report, &hang.chain[i], j);
	sp_json_close(j, ']');
	sp_json_close(j, '}');
}

static int end_table(const struct sp_report *report, struct sp_out *out)
{
	static const struct sp_column columns[] = {
		{"pid", NULL, SP_CELL_COUNT},	 {"role", NULL, SP_CELL_TEXT},
		{"how", NULL, SP_CELL_TEXT},	 {"status", NULL, SP_CELL_COUNT},
		{"signal", NULL, SP_CELL_COUNT}, {"at_ns", NULL, SP_CELL_SIGNED},
	};
	struct sp_command_end command = sp_command_end_of(&report->run);
	int r = sp_out_table(out, "ending", NULL, columns, 6, false);
	bool has_command = false;

	for (uint32_t i = 0; r == 0 && i < report->run.index.image_count; i++) {
		uint32_t pid = report->run.index.images[i].pid;
		struct sp_process_end end;

		if (report->run.index.images[i].is_replaced)
			continue;
		end = sp_process_end_of(&report->run, &report->totals, i);
		has_command |= command.is_known && pid == command.pid;
		r = end_row(out, report->run.begin_ns, pid, role_of(report, i, &command), &end);
	}
	if (r == 0 && command.is_known && !has_command)
		r = end_row(out, report->run.begin_ns, command.pid, "command", &command.end);
	return r < 0 ? r : sp_out_table_end(out);
}

int sp_ending_show(const struct sp_report *report, struct sp_out *out)
{
	int r = sp_out_is_read(out) ? 0 : end_table(report, out);

	if (r == 0 && out->format == SP_FORMAT_JSON)
		sp_ending_hang_json(report, &out->json);
	return r;
}
