/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/workers/work.h"

#include "analyzer/reader/reader.h"
#include "analyzer/text/translate.h"

static const char *const names[SP_WORKS] = {
#define SP_WORK(name, title, kind, inside) #name,
#include "analyzer/workers/work.def"
#undef SP_WORK
};

static const char *const titles[SP_WORKS] = {
#define SP_WORK(name, title, kind, inside) title,
#include "analyzer/workers/work.def"
#undef SP_WORK
};

static const uint8_t kinds[SP_WORKS] = {
#define SP_WORK(name, title, kind, inside) SP_WORK_KIND_##kind,
#include "analyzer/workers/work.def"
#undef SP_WORK
};

static const bool contains_decompression[SP_WORKS] = {
#define PART true
#define APART false
#define SP_WORK(name, title, kind, inside) inside,
#include "analyzer/workers/work.def"
#undef SP_WORK
#undef PART
#undef APART
};

static const uint8_t works_of_stages[SP_STAGES] = {
#define SP_WORK_none SP_WORKS
#define SP_STAGE(name, title, bytes, traffic, work) SP_WORK_##work,
#include "trace/stages.def"
#undef SP_STAGE
#undef SP_WORK_none
};

const char *sp_work_name(enum sp_work work)
{
	return names[work];
}

const char *sp_work_title(enum sp_work work)
{
	return _(titles[work]);
}

enum sp_work_kind sp_work_kind(enum sp_work work)
{
	return (enum sp_work_kind)kinds[work];
}

bool sp_work_contains_decompression(enum sp_work work)
{
	return contains_decompression[work];
}

static const uint8_t works_of_phases[SP_PHASES] = {
#define SP_WORK_none SP_WORKS
#define SP_PHASE(name, title, interval, device, work, sampled) SP_WORK_##work,
#include "trace/phases.def"
#undef SP_PHASE
#undef SP_WORK_none
};

bool sp_work_of(const struct sp_slot *slot, enum sp_stage stage, enum sp_work *ret)
{
	uint32_t work = SP_WORKS;

	if (sp_commit_kind(slot->commit) == SP_EV_python_call)
		work = slot->value >= 0 && slot->value < SP_PHASES ? works_of_phases[slot->value]
								   : SP_WORKS;
	else if (stage < SP_STAGES)
		work = works_of_stages[stage];
	if (work == SP_WORKS)
		return false;
	*ret = (enum sp_work)work;
	return true;
}
