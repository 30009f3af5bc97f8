#include "analyzer/work.h"

#include "analyzer/reader.h"
#include "analyzer/translate.h"

static const char *const names[SP_WORKS] = {
#define SP_WORK(name, title) #name,
#include "analyzer/work.def"
#undef SP_WORK
};

static const char *const titles[SP_WORKS] = {
#define SP_WORK(name, title) title,
#include "analyzer/work.def"
#undef SP_WORK
};

const char *sp_work_name(enum sp_work work)
{
	return names[work];
}

const char *sp_work_title(enum sp_work work)
{
	return _(titles[work]);
}

static bool work_of_part(int64_t part, enum sp_work *ret)
{
	switch (part) {
	case SP_PART_loader_fetch:
		*ret = SP_WORK_transform;
		return true;
	case SP_PART_collate:
		*ret = SP_WORK_collate;
		return true;
	case SP_PART_decode_image:
		*ret = SP_WORK_image_decode;
		return true;
	case SP_PART_decode_png:
		*ret = SP_WORK_png_decode;
		return true;
	case SP_PART_decode_video:
		*ret = SP_WORK_video_decode;
		return true;
	}
	return false;
}

static bool work_of_stage(enum sp_stage stage, enum sp_work *ret)
{
	switch (stage) {
	case SP_STAGE_file_open:
	case SP_STAGE_file_read:
		*ret = SP_WORK_file_read;
		return true;
	case SP_STAGE_jpeg_decode:
		*ret = SP_WORK_jpeg_decode;
		return true;
	case SP_STAGE_png_decode:
		*ret = SP_WORK_png_decode;
		return true;
	case SP_STAGE_webp_decode:
		*ret = SP_WORK_webp_decode;
		return true;
	case SP_STAGE_video_decode:
		*ret = SP_WORK_video_decode;
		return true;
	case SP_STAGE_decompress:
		*ret = SP_WORK_decompress;
		return true;
	case SP_STAGE_hdf5_open:
	case SP_STAGE_hdf5_read:
		*ret = SP_WORK_hdf5;
		return true;
	case SP_STAGE_wait:
	case SP_STAGE_ipc_read:
		*ret = SP_WORK_idle;
		return true;
	default:
		return false;
	}
}

bool sp_work_of(const struct sp_slot *slot, enum sp_stage stage, enum sp_work *ret)
{
	if (sp_commit_kind(slot->commit) == SP_EV_python_call)
		return work_of_part(slot->value, ret);
	return work_of_stage(stage, ret);
}
