#include "analyzer/role.h"

#include <string.h>

#include "analyzer/lineage.h"
#include "analyzer/report.h"
#include "analyzer/translate.h"

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

static bool is_trainer(const struct sp_report *report, const struct sp_stream *s)
{
	for (uint32_t t = 0; t < report->training.count; t++) {
		const struct sp_stream *its = report->index.streams[report->training.trainers[t].stream];

		if (its->image == s->image && its->tid == s->tid)
			return true;
	}
	return false;
}

/* The first thread of a process that a trainer started, and that knows ranges: it makes batches. */
static bool is_worker(const struct sp_report *report, const struct sp_stream *s)
{
	const struct sp_image *image = &report->index.images[s->image];
	uint32_t t;

	if (s->tid != image->pid || !report->facts.images[s->image].labels)
		return false;
	t = sp_trainer_above(report, s->image);
	return t < report->training.count && sp_trainer_image(report, t) != s->image;
}

const char *sp_role_of(const struct sp_report *report, uint32_t i)
{
	const struct sp_stream *s = report->index.streams[i];
	const char *name = *report->facts.thread_names[i] ? report->facts.thread_names[i] : s->comm;
	const char *role = role_of_name(name);

	if (is_trainer(report, s))
		return N_("trainer");
	if (role)
		return role;
	if (strncmp(name, "pt_data_worker", 14) == 0 && s->tid == report->index.images[s->image].pid)
		return N_("worker");
	return is_worker(report, s) ? N_("worker") : N_("other");
}
