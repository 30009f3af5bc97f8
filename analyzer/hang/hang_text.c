/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/hang_text.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/hang/rank_hang_text.h"
#include "analyzer/reader/call_paths.h"
#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/totals/process_end.h"
#include "trace/events.h"

#define FILE_WIDTH 60u

static const struct sp_stream *stream_of(const struct sp_report *report,
					 const struct sp_hang_link *link)
{
	return report->run.index.streams[link->stream];
}

/* The file's name, escaped, and short enough for a sentence. */
static void file_text(const char *file, char ret[SP_HANG_FILE_BYTES])
{
	sp_text_escape(ret, SP_HANG_FILE_BYTES, file, strlen(file));
	if (sp_text_width(ret) > FILE_WIDTH)
		sp_text_shorten(ret, FILE_WIDTH);
}

static const char *call_name(uint32_t kind)
{
	return sp_event_info(kind)->name ? sp_event_info(kind)->name : _("a call");
}

/* "the lock of /data/f" */
static void lock_name(const struct sp_live_lock *lock, char *ret, size_t room)
{
	char file[SP_HANG_FILE_BYTES];

	file_text(lock->file, file);
	if (lock->what == SP_LIVE_LOCK_ALONE)
		snprintf(ret, room, "%s", _("a lock or a signal inside of its process"));
	else if (lock->what != SP_LIVE_LOCK_FILE)
		snprintf(ret, room, "%s", _("a mutex"));
	else if (*file)
		snprintf(ret, room, _("the lock of %s"), file);
	else
		snprintf(ret, room, "%s", _("a file lock"));
}

/* "which process 5 (python3) holds" */
static void holder_text(const struct sp_live_lock *lock, uint32_t tid, bool is_forked, char *ret,
			size_t room)
{
	char name[4 * SP_LIVE_NAME_BYTES];

	sp_text_escape(name, sizeof(name), lock->holder_is, strlen(lock->holder_is));
	if (lock->what == SP_LIVE_LOCK_ALONE && is_forked)
		snprintf(ret, room,
			 _("which nobody releases, because the process has no other thread: a "
			   "thread of process %u (%s) held it when it forked this process, or this "
			   "thread took it before (inferred)"),
			 lock->holder, name);
	else if (lock->what == SP_LIVE_LOCK_ALONE)
		snprintf(ret, room, "%s",
			 _("which nobody releases, because the process has no other thread"));
	else if (lock->what == SP_LIVE_LOCK_COPIED)
		snprintf(ret, room,
			 _("which thread %u (%s) of process %u held when it forked this process, "
			   "so nobody releases it (inferred)"),
			 lock->holder_tid, name, lock->holder);
	else if (lock->what == SP_LIVE_LOCK_MUTEX && lock->holder_tid == tid)
		snprintf(ret, room, "%s", _("which it holds itself (inferred)"));
	else if (lock->what == SP_LIVE_LOCK_MUTEX)
		snprintf(ret, room, _("which its thread %u (%s) holds (inferred)"),
			 lock->holder_tid, name);
	else if (lock->what == SP_LIVE_LOCK_SHARED && lock->holder)
		snprintf(ret, room, _("which thread %u (%s) of process %u holds (inferred)"),
			 lock->holder_tid, name, lock->holder);
	else if (lock->what == SP_LIVE_LOCK_SHARED && lock->holder_tid)
		snprintf(ret, room,
			 _("which thread %u took; that thread has ended, so nobody releases it "
			   "(inferred)"),
			 lock->holder_tid);
	else if (lock->holder && *name)
		snprintf(ret, room, _("which process %u (%s) holds"), lock->holder, name);
	else if (lock->holder)
		snprintf(ret, room,
			 _("which process %u took; that process has ended, and another one keeps "
			   "the file open"),
			 lock->holder);
	else
		snprintf(ret, room, "%s", _("whose holder is not known"));
}

/* "the lock of /data/f, which process 5 (python3) holds" */
static void lock_text(const struct sp_report *report, const struct sp_hang_link *link, char *ret,
		      size_t room)
{
	const struct sp_stream *s = stream_of(report, link);
	char name[SP_HANG_FILE_BYTES + 32], holder[512];

	lock_name(&link->lock, name, sizeof(name));
	holder_text(&link->lock, s->tid, report->run.index.images[s->image].forked, holder,
		    sizeof(holder));
	snprintf(ret, room, _("%s, %s"), name, holder);
}

/* The end of a process. */
static void gone_text(const struct sp_report *report, const struct sp_hang_link *link,
		      const char *who, char *ret, size_t room)
{
	struct sp_process_end end = sp_hang_end_of(report, link->stream);

	if (end.how == SP_PROCESS_OOM)
		snprintf(ret, room, _("%s was killed for lack of memory"), who);
	else if (end.how == SP_PROCESS_SIGNALED)
		snprintf(ret, room, _("%s was ended by signal %u"), who, end.status);
	else if (end.how == SP_PROCESS_EXITED)
		snprintf(ret, room, _("%s had ended with exit status %u"), who, end.status);
	else
		snprintf(ret, room, _("%s had ended"), who);
}

/* The call that keeps the last link of the chain waiting. */
static void state_text(const struct sp_report *report, const struct sp_hang_link *link,
		       const char *who, char *ret, size_t room)
{
	char file[SP_HANG_FILE_BYTES], ns[SP_NUMBER_BYTES], lock[1024];

	sp_text_ns(ns, link->for_ns);
	file_text(link->file, file);
	lock_text(report, link, lock, sizeof(lock));
	if (link->is_gone)
		gone_text(report, link, who, ret, room);
	else if (link->is_stopped)
		snprintf(ret, room, _("%s is stopped by a signal (SIGSTOP)"), who);
	else if (link->lock.what && link->kind)
		snprintf(ret, room, _("%s is inside %s for %s: it waits for %s"), who,
			 call_name(link->kind), ns, lock);
	else if (link->lock.what)
		snprintf(ret, room, _("%s has made no call for %s: it waits for %s"), who, ns,
			 lock);
	else if (link->is_silent)
		snprintf(ret, room,
			 _("%s has made no call for %s: it computes, waits in a call "
			   "that is not recorded (a lock), or cannot run"),
			 who, ns);
	else if (*file)
		snprintf(ret, room, _("%s is inside %s of %s for %s"), who, call_name(link->kind),
			 file, ns);
	else if (link->missing)
		snprintf(ret, room, _("%s is inside %s for %s (%s)"), who, call_name(link->kind),
			 ns, sp_path_missing_text(link->missing));
	else
		snprintf(ret, room, _("%s is inside %s for %s"), who, call_name(link->kind), ns);
}

void sp_hang_role_name(const struct sp_hang_link *link, char ret[SP_HANG_NAME_BYTES])
{
	static const char *const names[] = {"trainer", "rank", "worker"};
	unsigned long long number = link->number;

	if (link->role == SP_HANG_TRAINER)
		snprintf(ret, SP_HANG_NAME_BYTES, "%s", names[link->role]);
	else
		snprintf(ret, SP_HANG_NAME_BYTES, "%s %llu", names[link->role], number);
}

static void role_text(const struct sp_hang_link *link, char ret[SP_HANG_NAME_BYTES])
{
	unsigned long long number = link->number;

	if (link->role == SP_HANG_TRAINER)
		snprintf(ret, SP_HANG_NAME_BYTES, "%s", _("the trainer"));
	else if (link->role == SP_HANG_RANK)
		snprintf(ret, SP_HANG_NAME_BYTES, _("rank %llu"), number);
	else
		snprintf(ret, SP_HANG_NAME_BYTES, _("worker %llu"), number);
}

static void who_text(const struct sp_report *report, const struct sp_hang_link *link, char *ret,
		     size_t room)
{
	const struct sp_stream *s = stream_of(report, link);
	char role[SP_HANG_NAME_BYTES];

	role_text(link, role);
	snprintf(ret, room, _("%s (pid %u)"), role, report->run.index.images[s->image].pid);
}

void sp_hang_link_text(const struct sp_report *report, const struct sp_hang_link *link, char *ret,
		       size_t ret_bytes)
{
	char who[96];

	who_text(report, link, who, sizeof(who));
	state_text(report, link, who, ret, ret_bytes);
}

/* From this link of the chain on. */
static size_t chain_text(const struct sp_report *report, const struct sp_hang *hang, uint32_t from,
			 char *ret, size_t ret_bytes)
{
	size_t used = 0;

	*ret = '\0';
	for (uint32_t i = from; i < hang->count && used < ret_bytes; i++) {
		char who[96], text[1024], next[SP_HANG_NAME_BYTES];

		who_text(report, &hang->chain[i], who, sizeof(who));
		if (i + 1 < hang->count)
			role_text(&hang->chain[i + 1], next);
		if (i + 1 < hang->count)
			snprintf(text, sizeof(text), _("%s waits for %s"), who, next);
		else
			state_text(report, &hang->chain[i], who, text, sizeof(text));
		used += (size_t)snprintf(ret + used, ret_bytes - used, "%s%s",
					 i > from ? _("; ") : "", text);
	}
	return used;
}

void sp_hang_text(const struct sp_report *report, const struct sp_hang *hang, char *ret,
		  size_t ret_bytes)
{
	struct sp_rank_hang ranks = {.trainers = 0};
	bool is_matched = hang->count && hang->chain[0].role == SP_HANG_RANK &&
			  sp_rank_hang_find(report, hang, &ranks) == 0 && ranks.row_count;
	size_t used = 0;

	*ret = '\0';
	if (is_matched)
		used = sp_rank_hang_text(&ranks, ret, ret_bytes);
	/* The first link is a rank that waits in a collective. */
	if (used < ret_bytes && (!used || (hang->count > 1 && !sp_rank_hang_is_cycle(&ranks)))) {
		size_t joined = used ? strlen(_("; ")) : 0;

		if (used + joined < ret_bytes) {
			if (joined)
				snprintf(ret + used, ret_bytes - used, "%s", _("; "));
			chain_text(report, hang, used ? 1 : 0, ret + used + joined,
				   ret_bytes - used - joined);
		}
	}
	sp_rank_hang_finish(&ranks);
}

void sp_hang_suspect_text(const struct sp_report *report, const struct sp_hang_link *link,
			  char *ret, size_t ret_bytes)
{
	char who[96], file[SP_HANG_FILE_BYTES], lock[1024];

	who_text(report, link, who, sizeof(who));
	file_text(link->file, file);
	lock_text(report, link, lock, sizeof(lock));
	if (link->lock.what)
		snprintf(ret, ret_bytes,
			 _("the run was killed while %s waited for %s; it is not known for how "
			   "long"),
			 who, lock);
	else if (*file)
		snprintf(ret, ret_bytes,
			 _("the run was killed while %s was inside %s of %s; it is not known for "
			   "how "
			   "long"),
			 who, call_name(link->kind), file);
	else if (link->missing)
		snprintf(ret, ret_bytes,
			 _("the run was killed while %s was inside %s; it is not known for how "
			   "long; %s"),
			 who, call_name(link->kind), sp_path_missing_text(link->missing));
	else
		snprintf(ret, ret_bytes,
			 _("the run was killed while %s was inside %s; it is not known for how "
			   "long"),
			 who, call_name(link->kind));
}
