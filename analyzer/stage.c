#include "analyzer/stage.h"

#include <string.h>

#include "analyzer/translate.h"

static const char *const names[SP_STAGES] = {
#define SP_STAGE(name, title) #name,
#include "trace/stages.def"
#undef SP_STAGE
};

static const char *const titles[SP_STAGES] = {
#define SP_STAGE(name, title) title,
#include "trace/stages.def"
#undef SP_STAGE
};

#define SAME(stage)                                                                                \
	{                                                                                          \
		SP_STAGE_##stage, SP_STAGE_##stage, SP_STAGE_##stage, SP_STAGE_##stage,            \
			SP_STAGE_##stage, SP_STAGE_##stage                                         \
	}

/*
 * class x place. A write to procfs commands the kernel, as a write to a device does. Python writes its
 * .pyc files as any program writes files.
 */
static const uint8_t table[][SP_PLACES] = {
	[SP_CLASS_OPEN] = {SP_STAGE_file_open, SP_STAGE_file_open, SP_STAGE_import_open,
			   SP_STAGE_file_open, SP_STAGE_file_open, SP_STAGE_file_open},
	[SP_CLASS_CLOSE] = SAME(file_close),
	[SP_CLASS_READ] = {SP_STAGE_unknown_read, SP_STAGE_file_read, SP_STAGE_import_read,
			   SP_STAGE_ipc_read, SP_STAGE_device_read, SP_STAGE_proc_read},
	[SP_CLASS_WRITE] = {SP_STAGE_unknown_write, SP_STAGE_file_write, SP_STAGE_file_write,
			    SP_STAGE_ipc_write, SP_STAGE_device_write, SP_STAGE_device_write},
	[SP_CLASS_MAP] = SAME(mmap),
	[SP_CLASS_UNMAP] = SAME(munmap),
	[SP_CLASS_DUP] = SAME(dup),
	[SP_CLASS_WAIT] = SAME(wait),
	[SP_CLASS_JPEG] = SAME(jpeg_decode),
	[SP_CLASS_PROCESS] = SAME(process),
	[SP_CLASS_RANGE] = SAME(range),
	[SP_CLASS_CUDA_LAUNCH] = SAME(cuda_launch),
	[SP_CLASS_CUDA_GRAPH] = SAME(cuda_graph_launch),
	/* By enum sp_copy_direction: sp_place_of_copy. */
	[SP_CLASS_CUDA_COPY] = {SP_STAGE_cuda_copy_other, SP_STAGE_cuda_copy_h2d,
				SP_STAGE_cuda_copy_d2h, SP_STAGE_cuda_copy_d2d,
				SP_STAGE_cuda_copy_other, SP_STAGE_cuda_copy_other},
	[SP_CLASS_CUDA_MEMSET] = SAME(cuda_memset),
	[SP_CLASS_CUDA_SYNC] = SAME(cuda_sync),
	[SP_CLASS_CUDA_STREAM] = SAME(cuda_stream),
	[SP_CLASS_CUDA_MALLOC] = SAME(cuda_malloc),
	[SP_CLASS_CUDA_FREE] = SAME(cuda_free),
	[SP_CLASS_NCCL] = SAME(nccl),
	[SP_CLASS_COPY] = SAME(file_copy),
	[SP_CLASS_ADVISE] = SAME(file_advice),
	[SP_CLASS_SYNC] = SAME(file_sync),
	[SP_CLASS_STAT] = SAME(file_stat),
	[SP_CLASS_LIST] = SAME(file_list),
	[SP_CLASS_PNG] = SAME(png_decode),
	[SP_CLASS_WEBP] = SAME(webp_decode),
	[SP_CLASS_VIDEO] = SAME(video_decode),
	[SP_CLASS_DECOMPRESS] = SAME(decompress),
	[SP_CLASS_HDF5_OPEN] = SAME(hdf5_open),
	[SP_CLASS_HDF5_READ] = SAME(hdf5_read),
	[SP_CLASS_HDF5_WRITE] = SAME(hdf5_write),
	[SP_CLASS_OFF] = SAME(off),
	[SP_CLASS_GPU_KERNEL] = SAME(gpu_kernel),
	[SP_CLASS_GPU_COPY] = {SP_STAGE_gpu_copy_other, SP_STAGE_gpu_copy_h2d, SP_STAGE_gpu_copy_d2h,
			       SP_STAGE_gpu_copy_d2d, SP_STAGE_gpu_copy_other, SP_STAGE_gpu_copy_other},
	[SP_CLASS_GPU_MEMSET] = SAME(gpu_memset),
	[SP_CLASS_GPU_LOST] = SAME(gpu_lost),
	[SP_CLASS_MEMORY] = SAME(memory),
	[SP_CLASS_CUDA_RESET] = SAME(cuda_free),
	[SP_CLASS_CUDA_RELEASE] = SAME(cuda_free),
	[SP_CLASS_GPU_SPAN] = SAME(gpu_span),
};

/* What the bytes of a stage are. */
enum bytes {
	NO_BYTES,
	SIZED, /* lengths: nothing moved in the time */
	MOVED,
};

static const uint8_t bytes_of[SP_STAGES] = {
	[SP_STAGE_file_read] = MOVED,	   [SP_STAGE_file_write] = MOVED,
	[SP_STAGE_import_read] = MOVED,	   [SP_STAGE_ipc_read] = MOVED,
	[SP_STAGE_ipc_write] = MOVED,	   [SP_STAGE_device_read] = MOVED,
	[SP_STAGE_device_write] = MOVED,   [SP_STAGE_proc_read] = MOVED,
	[SP_STAGE_unknown_read] = MOVED,   [SP_STAGE_unknown_write] = MOVED,
	[SP_STAGE_cuda_copy_h2d] = MOVED,  [SP_STAGE_cuda_copy_d2h] = MOVED,
	[SP_STAGE_cuda_copy_d2d] = MOVED,  [SP_STAGE_cuda_copy_other] = MOVED,
	[SP_STAGE_cuda_memset] = MOVED,	   [SP_STAGE_nccl] = MOVED,
	[SP_STAGE_file_copy] = MOVED,	   [SP_STAGE_decompress] = MOVED,
	[SP_STAGE_hdf5_read] = MOVED,	   [SP_STAGE_hdf5_write] = MOVED,
	[SP_STAGE_gpu_copy_h2d] = MOVED,   [SP_STAGE_gpu_copy_d2h] = MOVED,
	[SP_STAGE_gpu_copy_d2d] = MOVED,   [SP_STAGE_gpu_copy_other] = MOVED,
	[SP_STAGE_gpu_memset] = MOVED,
	[SP_STAGE_cuda_malloc] = SIZED,	   [SP_STAGE_mmap] = SIZED,
};

_Static_assert((int)SP_COPY_DIRECTIONS <= (int)SP_PLACES, "a direction is kept as a place");

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
	return bytes_of[stage] != NO_BYTES;
}

bool sp_stage_has_rate(enum sp_stage stage)
{
	return bytes_of[stage] == MOVED;
}

enum sp_traffic_way sp_stage_traffic(enum sp_stage stage)
{
	switch (stage) {
	case SP_STAGE_file_read:
	case SP_STAGE_import_read:
	case SP_STAGE_ipc_read:
	case SP_STAGE_device_read:
	case SP_STAGE_proc_read:
	case SP_STAGE_unknown_read:
		return SP_TRAFFIC_READ;
	case SP_STAGE_file_write:
	case SP_STAGE_ipc_write:
	case SP_STAGE_device_write:
	case SP_STAGE_unknown_write:
		return SP_TRAFFIC_WRITTEN;
	default:
		return SP_TRAFFIC_NONE;
	}
}

static bool contains(const char *path, size_t bytes, const char *part)
{
	return memmem(path, bytes, part, strlen(part)) != NULL;
}

static bool ends_with(const char *path, size_t bytes, const char *end)
{
	size_t n = strlen(end);

	return bytes >= n && memcmp(path + bytes - n, end, n) == 0;
}

/* …/lib/python3.11/… and …/lib/python3/…, where the standard library and Debian's packages lie. */
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
 * Python's own reading: byte code anywhere; sources, extension modules and the import system's own files
 * in a library directory. A package's data (photographs, arrays, tables) is data wherever it lies, and a
 * .py file in the user's own folders may be data too.
 */
static bool is_import(const char *path, size_t bytes)
{
	static const char *const ends[] = {".py", ".pyd", ".so", ".pth", ".pyi"};

	if (ends_with(path, bytes, ".pyc"))
		return true;
	if (ends_with(path, bytes, "/pyvenv.cfg"))
		return true;
	if (!is_in_python_library(path, bytes))
		return false;
	if (contains(path, bytes, ".dist-info/") || contains(path, bytes, ".egg-info/"))
		return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends_with(path, bytes, ends[i]))
			return true;
	return false;
}

enum sp_place sp_place_of(const struct sp_file_facts *facts, const char *path, size_t path_bytes)
{
	switch ((enum sp_file_type)facts->type) {
	case SP_FILE_REGULAR:
	case SP_FILE_DIRECTORY:
		return is_import(path, path_bytes) ? SP_PLACE_IMPORT : SP_PLACE_FILE;
	case SP_FILE_PIPE:
	case SP_FILE_SOCKET:
	case SP_FILE_ANON:
		return SP_PLACE_IPC;
	case SP_FILE_CHARACTER:
	case SP_FILE_BLOCK:
		return SP_PLACE_DEVICE;
	case SP_FILE_PSEUDO:
		return SP_PLACE_KERNEL;
	case SP_FILE_UNKNOWN:
	case SP_FILE_TYPES:
		break;
	}
	return SP_PLACE_UNKNOWN;
}

enum sp_place sp_place_of_id(uint32_t file)
{
	struct sp_file_facts facts = {.type = file >> SP_FILE_TYPE_SHIFT};

	return sp_place_of(&facts, "", 0);
}

enum sp_place sp_place_of_copy(uint32_t arg)
{
	uint32_t direction = sp_cuda_arg_direction(arg);

	return (enum sp_place)(direction < SP_COPY_DIRECTIONS ? direction : SP_COPY_UNKNOWN);
}

enum sp_stage sp_stage_of(uint32_t kind, enum sp_place place)
{
	const struct sp_event_info *info = sp_event_info(kind);

	return info->name ? (enum sp_stage)table[info->class][place] : SP_STAGE_other;
}
