/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/workers/thread_role.h"

#include <string.h>

#include "analyzer/workers/process_tree.h"
#include "analyzer/training/training.h"
#include "analyzer/text/translate.h"

static const struct {
	const char *prefix, *role;
} names[] = {
	{"pt_data_pin", "pin_memory"},
	{"pin_memory", "pin_memory"},
	{"pt_autograd", "autograd"},
};

static const char *role_of_name(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i].prefix, strlen(names[i].prefix)) == 0)
			return names[i].role;
	return NULL;
}

static bool is_trainer(const struct sp_training *training, uint32_t stream)
{
	uint32_t image = training->run->index.streams[stream]->image;
	const struct sp_trainer *t = sp_training_of(training, image);

	for (; t && t < training->trainers + training->count; t++) {
		if (sp_trainer_is_same_thread(training->run, t->stream, stream))
			return true;
		if (training->run->index.streams[t->stream]->image != image)
			return false;
	}
	return false;
}

static bool is_named_worker(const struct sp_run *run, uint32_t stream)
{
	const char *name = run->metadata.thread_names[stream];

	return strncmp(*name ? name : run->index.streams[stream]->comm, "pt_data_worker", 14) == 0;
}

bool sp_may_serve(const struct sp_run *run, uint32_t stream)
{
	return !sp_run_process(run, stream)->asks_loader || is_named_worker(run, stream);
}

/* The first thread of a process that a trainer started makes batches where it fetches them. */
static bool is_worker(const struct sp_training *training, uint32_t i)
{
	const struct sp_stream *s = training->run->index.streams[i];
	uint32_t t;

	if (s->tid != training->run->index.images[s->image].pid)
		return false;
	if (is_named_worker(training->run, i))
		return true;
	if (!training->run->metadata.images[s->image].fetches || !sp_may_serve(training->run, i))
		return false;
	t = sp_trainer_above(training, s->image);
	return t < training->count && sp_trainer_process(training, t) != s->image;
}

static const char *const roles[] = {N_("other"), N_("trainer"), N_("worker"), "pin_memory",
				    "autograd"};
#define ROLES (sizeof(roles) / sizeof(roles[0]))

uint32_t sp_role_number(const char *role)
{
	uint32_t i = 0;

	while (i < ROLES && strcmp(roles[i], role) != 0)
		i++;
	return i < ROLES ? i : 0;
}

const char *sp_role_of(const struct sp_training *training, uint32_t i)
{
	const struct sp_stream *s = training->run->index.streams[i];
	const char *name = *training->run->metadata.thread_names[i]
				   ? training->run->metadata.thread_names[i]
				   : s->comm;
	const char *role = role_of_name(name);

	if (s->digested)
		return roles[s->digested->role < ROLES ? s->digested->role : 0];
	if (is_trainer(training, i))
		return N_("trainer");
	if (role)
		return role;
	return is_worker(training, i) ? N_("worker") : N_("other");
}
