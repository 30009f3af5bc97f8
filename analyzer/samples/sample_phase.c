/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/samples/sample_phase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/order.h"
#include "analyzer/steps/thread_timeline.h"

struct sp_sampled_role {
	uint32_t pid, tid;
	int64_t begin_ns; /* of the process image: a pid may have been used before */
	const struct sp_trainer *trainer; /* NULL: a worker */
};

static const char *const names[SP_SAMPLE_PHASES] = {
	[SP_SAMPLE_ELSEWHERE] = "elsewhere",	[SP_SAMPLE_FETCH] = "worker_fetch",
	[SP_SAMPLE_DECODE] = "worker_decode",	[SP_SAMPLE_TRANSFORM] = "worker_transform",
	[SP_SAMPLE_COLLATE] = "worker_collate", [SP_SAMPLE_NO_FETCH] = "worker_idle",
	[SP_SAMPLE_NO_STEP] = "outside_steps",
#define SP_ACCOUNT(name, title, missing, is) [SP_SAMPLE_ACCOUNT + SP_ACCOUNT_##name] = #name,
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT
};

const char *sp_sample_phase_name(enum sp_sample_phase phase)
{
	return names[phase];
}

int sp_sample_phase_find(const char *name)
{
	int found = -1, count = 0;

	for (int i = 0; i < SP_SAMPLE_PHASES; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
		if (strncmp(names[i], name, strlen(name)) == 0) {
			found = i;
			count++;
		}
	}
	return count == 1 ? found : -1;
}

bool sp_sample_phase_is_wall(enum sp_sample_phase phase)
{
	return phase != SP_SAMPLE_ELSEWHERE && phase != SP_SAMPLE_NO_FETCH;
}

static struct sp_sampled_role *role_add(struct sp_sampled_roles *roles, const struct sp_run *run,
					uint32_t stream)
{
	struct sp_sampled_role *role = &roles->list[roles->count++];
	const struct sp_stream *s = run->index.streams[stream];

	role->pid = run->index.images[s->image].pid;
	role->tid = s->tid;
	role->begin_ns = (int64_t)run->index.images[s->image].start_ns;
	return role;
}

SP_ORDER(compare_roles, struct sp_sampled_role, SP_UP(pid) ?: SP_UP(tid) ?: SP_UP(begin_ns))

int sp_sampled_roles_read(struct sp_sampled_roles *roles, const struct sp_training *training,
			  const struct sp_workers *workers)
{
	*roles = (struct sp_sampled_roles){
		.list = calloc(training->count + workers->count + 1u, sizeof(*roles->list))};
	if (!roles->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < training->count; i++)
		role_add(roles, training->run, training->trainers[i].stream)->trainer =
			&training->trainers[i];
	for (uint32_t i = 0; i < workers->count; i++)
		if (!workers->list[i].is_trainer)
			role_add(roles, training->run, workers->list[i].stream);
	qsort(roles->list, roles->count, sizeof(*roles->list), compare_roles);
	return 0;
}

void sp_sampled_roles_finish(struct sp_sampled_roles *roles)
{
	free(roles->list);
}

static const struct sp_sampled_role *role_of(const struct sp_sampled_roles *roles, uint32_t pid,
					     uint32_t tid, int64_t at_ns)
{
	struct sp_sampled_role wanted = {.pid = pid, .tid = tid, .begin_ns = at_ns};
	uint32_t low = 0, high = roles->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_roles(&roles->list[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || roles->list[low - 1].pid != pid || roles->list[low - 1].tid != tid)
		return NULL;
	return &roles->list[low - 1];
}

enum sp_sample_phase sp_sampled_role_phase(const struct sp_sampled_roles *roles, uint32_t pid,
					   uint32_t tid, int64_t at_ns, enum sp_sample_phase work)
{
	const struct sp_sampled_role *role = role_of(roles, pid, tid, at_ns);
	const struct sp_phase_segment *segment;

	if (!role)
		return SP_SAMPLE_ELSEWHERE;
	if (!role->trainer)
		return work;
	segment = sp_thread_timeline_at(&role->trainer->steps.timeline, at_ns);
	return segment ? SP_SAMPLE_ACCOUNT + segment->phase : SP_SAMPLE_NO_STEP;
}
