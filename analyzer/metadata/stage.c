/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/stage.h"

#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

static const char *const names[SP_STAGES] = {
#define SP_STAGE(name, title, bytes, traffic, work) #name,
#include "trace/stages.def"
#undef SP_STAGE
};

static const char *const titles[SP_STAGES] = {
#define SP_STAGE(name, title, bytes, traffic, work) title,
#include "trace/stages.def"
#undef SP_STAGE
};

#define SP_STAGE_ONE(stage)                                                                        \
	{                                                                                          \
		SP_STAGE_##stage, SP_STAGE_##stage, SP_STAGE_##stage, SP_STAGE_##stage,            \
			SP_STAGE_##stage, SP_STAGE_##stage, SP_STAGE_##stage                       \
	}
#define SP_STAGE_BY_FD(unknown, file, import, ipc, device, kernel, net)                            \
	{                                                                                          \
		[SP_FD_KIND_UNKNOWN] = SP_STAGE_##unknown, [SP_FD_KIND_FILE] = SP_STAGE_##file,    \
		[SP_FD_KIND_IMPORT] = SP_STAGE_##import, [SP_FD_KIND_IPC] = SP_STAGE_##ipc,        \
		[SP_FD_KIND_DEVICE] = SP_STAGE_##device, [SP_FD_KIND_KERNEL] = SP_STAGE_##kernel,  \
		[SP_FD_KIND_NET] = SP_STAGE_##net,                                                 \
	}
/* By enum sp_copy_direction: sp_fd_kind_of_copy. */
#define SP_STAGE_BY_COPY(to_device, to_host, on_device, other)                                     \
	{                                                                                          \
		[SP_COPY_HOST_TO_HOST] = SP_STAGE_##other,                                         \
		[SP_COPY_TO_DEVICE] = SP_STAGE_##to_device,                                        \
		[SP_COPY_TO_HOST] = SP_STAGE_##to_host,                                            \
		[SP_COPY_ON_DEVICE] = SP_STAGE_##on_device, [SP_COPY_UNKNOWN] = SP_STAGE_##other,  \
		[SP_COPY_DIRECTIONS] = SP_STAGE_##other, [SP_FD_KIND_NET] = SP_STAGE_##other,      \
	}

/* class x kind of descriptor */
static const uint8_t table[SP_CLASSES][SP_FD_KINDS] = {
#define SP_CLASS(name, stage, step, library) [SP_CLASS_##name] = stage,
#include "trace/classes.def"
#undef SP_CLASS
};

static const uint8_t step_uses[SP_CLASSES] = {
#define SP_CLASS(name, stage, step, library) [SP_CLASS_##name] = SP_STEP_USE_##step,
#include "trace/classes.def"
#undef SP_CLASS
};

static const uint8_t libraries[SP_CLASSES] = {
#define SP_CLASS(name, stage, step, library) [SP_CLASS_##name] = SP_LIBRARY_##library,
#include "trace/classes.def"
#undef SP_CLASS
};

/* The meaning of a stage's bytes. */
enum bytes {
	BYTES_NONE,
	BYTES_SIZED, /* sizes; no bytes were moved in the time */
	BYTES_MOVED,
};

static const uint8_t bytes_of[SP_STAGES] = {
#define SP_STAGE(name, title, bytes, traffic, work) BYTES_##bytes,
#include "trace/stages.def"
#undef SP_STAGE
};

static const uint8_t traffic_of[SP_STAGES] = {
#define SP_STAGE(name, title, bytes, traffic, work) SP_TRAFFIC_##traffic,
#include "trace/stages.def"
#undef SP_STAGE
};

_Static_assert((int)SP_COPY_DIRECTIONS + 2 == (int)SP_FD_KINDS, "a direction is kept as a kind");

const char *sp_stage_name(enum sp_stage stage)
{
	return names[stage];
}

const char *sp_stage_title(enum sp_stage stage)
{
	return _(titles[stage]);
}

bool sp_stage_has_bytes(enum sp_stage stage)
{
	return bytes_of[stage] != BYTES_NONE;
}

bool sp_stage_has_rate(enum sp_stage stage)
{
	return bytes_of[stage] == BYTES_MOVED;
}

enum sp_traffic_way sp_stage_traffic(enum sp_stage stage)
{
	return (enum sp_traffic_way)traffic_of[stage];
}

static bool contains(const char *path, size_t bytes, const char *part)
{
	return memmem(path, bytes, part, strlen(part)) != NULL;
}

/* …/lib/python3.11/… and …/lib/python3/… hold the standard library and Debian's packages. */
static bool is_in_python_library(const char *path, size_t bytes)
{
	static const char mark[] = "/python";
	const char *end = path + bytes, *p = path;

	if (contains(path, bytes, "/site-packages/") || contains(path, bytes, "/dist-packages/"))
		return true;
	while ((p = memmem(p, (size_t)(end - p), mark, sizeof(mark) - 1))) {
		p += sizeof(mark) - 1;
		if (p == end || *p < '2' || *p > '9')
			continue;
		while (p < end && ((*p >= '0' && *p <= '9') || *p == '.' || *p == 't'))
			p++;
		if (p < end && *p == '/')
			return true;
	}
	return false;
}

/*
 * Files that Python itself reads: byte code anywhere; sources, extension modules and files of the
 * import system in a library directory. A package's data (photographs, arrays, tables) is data in
 * any folder, and a .py file in the user's own folders may also be data.
 */
static bool is_import(const char *path, size_t bytes)
{
	static const char *const ends[] = {".py", ".pyd", ".so", ".pth", ".pyi"};

	if (sp_text_ends(path, bytes, ".pyc"))
		return true;
	if (sp_text_ends(path, bytes, "/pyvenv.cfg"))
		return true;
	if (!is_in_python_library(path, bytes))
		return false;
	if (contains(path, bytes, ".dist-info/") || contains(path, bytes, ".egg-info/"))
		return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sp_text_ends(path, bytes, ends[i]))
			return true;
	return false;
}

enum sp_fd_kind sp_fd_kind_of(const struct sp_file_metadata *metadata, const char *path,
			      size_t path_bytes)
{
	switch ((enum sp_file_type)metadata->type) {
	case SP_FILE_REGULAR:
	case SP_FILE_DIRECTORY:
		return is_import(path, path_bytes) ? SP_FD_KIND_IMPORT : SP_FD_KIND_FILE;
	case SP_FILE_PIPE:
	case SP_FILE_SOCKET:
	case SP_FILE_ANON:
		return SP_FD_KIND_IPC;
	case SP_FILE_NET:
		return SP_FD_KIND_NET;
	case SP_FILE_CHARACTER:
	case SP_FILE_BLOCK:
		return SP_FD_KIND_DEVICE;
	case SP_FILE_PSEUDO:
		return SP_FD_KIND_KERNEL;
	case SP_FILE_UNKNOWN:
	case SP_FILE_TYPES:
		break;
	}
	return SP_FD_KIND_UNKNOWN;
}

enum sp_fd_kind sp_fd_kind_of_id(uint32_t file)
{
	struct sp_file_metadata metadata = {.type = file >> SP_FILE_TYPE_SHIFT};

	return sp_fd_kind_of(&metadata, "", 0);
}

enum sp_fd_kind sp_fd_kind_of_copy(uint32_t arg)
{
	uint32_t direction = sp_cuda_arg_direction(arg);

	return (enum sp_fd_kind)(direction < SP_COPY_DIRECTIONS ? direction : SP_COPY_UNKNOWN);
}

enum sp_stage sp_stage_of(uint32_t kind, enum sp_fd_kind fd_kind)
{
	const struct sp_event_info *info = sp_event_info(kind);

	return info->name ? (enum sp_stage)table[info->class][fd_kind] : SP_STAGE_other;
}

enum sp_step_use sp_class_step_use(enum sp_class class)
{
	return (enum sp_step_use)step_uses[class];
}

enum sp_library sp_class_library(enum sp_class class)
{
	return (enum sp_library)libraries[class];
}

enum sp_stage sp_class_stage(enum sp_class class, enum sp_fd_kind fd_kind)
{
	return (enum sp_stage)table[class][fd_kind];
}
