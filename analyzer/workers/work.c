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

static bool work_of_part(int64_t part, enum sp_work *ret)
{
	switch (part) {
	case SP_PHASE_loader_fetch:
		*ret = SP_WORK_transform;
		return true;
	case SP_PHASE_collate:
		*ret = SP_WORK_collate;
		return true;
	case SP_PHASE_decode_image:
		*ret = SP_WORK_image_decode;
		return true;
	case SP_PHASE_decode_png:
		*ret = SP_WORK_png_decode;
		return true;
	case SP_PHASE_decode_video:
		*ret = SP_WORK_video_decode;
		return true;
	case SP_PHASE_hdf5:
		*ret = SP_WORK_hdf5;
		return true;
	}
	return false;
}

bool sp_work_of(const struct sp_slot *slot, enum sp_stage stage, enum sp_work *ret)
{
	if (sp_commit_kind(slot->commit) == SP_EV_python_call)
		return work_of_part(slot->value, ret);
	if (stage >= SP_STAGES || works_of_stages[stage] == SP_WORKS)
		return false;
	*ret = (enum sp_work)works_of_stages[stage];
	return true;
}
