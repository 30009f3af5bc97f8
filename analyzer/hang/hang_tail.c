/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/hang_tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/instant.h"

#define CALLS_IN_TAIL 192u /* of all groups of a process, about: a tail stays below 4 KB */

static void end_fields(struct sp_digest_fields *f, struct sp_process_end *end)
{
	uint32_t how = end->how;

	sp_digest_u32(f, &how);
	f->is_bad |= how >= SP_PROCESS_HOWS;
	end->how = f->is_bad ? SP_PROCESS_UNKNOWN : (enum sp_process_how)how;
	sp_digest_u32(f, &end->status);
	sp_digest_instant(f, &end->at_ns);
	sp_digest_bool(f, &end->is_seen);
}

static void lock_fields(struct sp_digest_fields *f, struct sp_live_lock *lock)
{
	uint32_t what = lock->what;

	sp_digest_u32(f, &what);
	f->is_bad |= what > SP_LIVE_LOCK_ALONE;
	lock->what = f->is_bad ? SP_LIVE_LOCK_NONE : (enum sp_live_lock_what)what;
	if (lock->what == SP_LIVE_LOCK_NONE)
		return;
	sp_digest_u32(f, &lock->holder);
	sp_digest_u32(f, &lock->holder_tid);
	sp_digest_text(f, lock->holder_is, sizeof(lock->holder_is));
	sp_digest_text(f, lock->file, sizeof(lock->file));
	lock->holder_is[sizeof(lock->holder_is) - 1] = '\0';
	lock->file[sizeof(lock->file) - 1] = '\0';
}

void sp_hang_tail_fields(struct sp_digest_fields *f, struct sp_hang_tail *tail)
{
	uint32_t missing = tail->missing;

	end_fields(f, &tail->end);
	sp_digest_instant(f, &tail->run_end_ns);
	sp_digest_instant(f, &tail->since_ns);
	sp_digest_instant(f, &tail->least_ns);
	sp_digest_text(f, tail->file, sizeof(tail->file));
	tail->file[sizeof(tail->file) - 1] = '\0';
	sp_digest_u32(f, &missing);
	f->is_bad |= missing > SP_PATH_FAR;
	tail->missing = f->is_bad ? SP_PATH_NOT_MISSING : (enum sp_path_missing)missing;
	lock_fields(f, &tail->lock);
}

/* Read, the name lies in the bytes. */
static void name_fields(struct sp_digest_fields *f, struct sp_group_calls *group)
{
	uint8_t *name = (uint8_t *)group->name;
	uint32_t bytes = group->name_bytes;

	if (!f->reads) {
		sp_digest_bytes(f, &name, &bytes);
		return;
	}
	sp_digest_u32(f, &group->name_bytes);
	f->is_bad |= group->name_bytes > (size_t)(f->in.end - f->in.at);
	if (f->is_bad)
		return;
	group->name = group->name_bytes ? (const char *)f->in.at : NULL;
	f->in.at += group->name_bytes;
}

static void call_fields(struct sp_digest_fields *f, struct sp_group_call *call, int64_t before_ns)
{
	int64_t after_ns = f->reads ? 0 : (int64_t)((uint64_t)call->at_ns - (uint64_t)before_ns);

	sp_digest_number(f, &call->operation);
	sp_digest_number(f, &call->type);
	sp_digest_instant(f, &call->elements);
	sp_digest_instant(f, &after_ns);
	if (f->reads)
		call->at_ns = sp_instant((int64_t)((uint64_t)before_ns + (uint64_t)after_ns));
}

/* The last calls, of which a process with many groups keeps fewer. */
static void calls_fields(struct sp_digest_fields *f, struct sp_group_calls *group, uint32_t most)
{
	uint32_t kept = group->kept < most ? group->kept : most, left = group->kept - kept;
	int64_t before_ns = group->since_ns;

	sp_digest_u32(f, &kept);
	f->is_bad |= kept > SP_GROUP_CALLS_KEPT || kept > group->count;
	if (f->reads)
		group->kept = f->is_bad ? 0 : kept;
	for (uint32_t i = f->reads ? 0 : left; i < group->kept && !f->is_bad; i++) {
		call_fields(f, &group->last[i], before_ns);
		before_ns = group->last[i].at_ns;
	}
}

static void group_fields(struct sp_digest_fields *f, struct sp_group_calls *group, uint32_t most)
{
	sp_digest_instant(f, &group->since_ns);
	name_fields(f, group);
	sp_digest_number(f, &group->size);
	sp_digest_number(f, &group->rank);
	sp_digest_number(f, &group->identity);
	sp_digest_bool(f, &group->is_device);
	sp_digest_number(f, &group->count);
	calls_fields(f, group, most);
}

void sp_hang_groups_fields(struct sp_digest_fields *f, struct sp_process_groups *groups)
{
	uint32_t count = groups->count, most;

	sp_digest_bool(f, &groups->is_partial);
	sp_digest_instant(f, &groups->ended_since_ns);
	sp_digest_instant(f, &groups->synced_since_ns);
	sp_digest_u32(f, &count);
	f->is_bad |= count > SP_GROUPS_MAX;
	if (f->reads && !f->is_bad) {
		groups->list = calloc(count + 1u, sizeof(*groups->list));
		groups->count = groups->room = groups->list ? count : 0;
	}
	most = CALLS_IN_TAIL / (count + 1) + 1;
	for (uint32_t i = 0; i < groups->count && !f->is_bad; i++)
		group_fields(f, &groups->list[i], most);
}

static bool read_tail(const struct sp_stream *stream, struct sp_digest_fields *f,
		      struct sp_hang_tail *ret)
{
	const struct sp_digested *digested = stream->digested;

	*ret = (struct sp_hang_tail){.end.at_ns = INT64_MIN};
	if (!digested || !digested->tail_bytes)
		return false;
	*f = sp_digest_fields_of(digested->tail, digested->tail_bytes);
	sp_hang_tail_fields(f, ret);
	return !f->is_bad;
}

bool sp_hang_tail_read(const struct sp_stream *stream, struct sp_hang_tail *ret)
{
	struct sp_digest_fields f;

	return read_tail(stream, &f, ret);
}

int sp_hang_groups_read(const struct sp_stream *stream, struct sp_process_groups *ret)
{
	struct sp_hang_tail tail;
	struct sp_digest_fields f;

	*ret = (struct sp_process_groups){.is_partial = true};
	if (!read_tail(stream, &f, &tail))
		return 0;
	sp_hang_groups_fields(&f, ret);
	if (!ret->list)
		return f.is_bad ? 0 : -ENOMEM;
	ret->is_partial |= f.is_bad;
	for (uint32_t i = 0; i < ret->count; i++)
		if (ret->list[i].rank >= SP_GROUP_NO_RANK)
			ret->list[i].rank = SP_GROUP_NO_RANK + stream->image;
	return 0;
}
