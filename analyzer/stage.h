/*
 * Which stage an event belongs to: THE rule, in one table (stage.c), from the event's class and
 * from what kind of thing its file is.
 */
#ifndef STAGEPROF_ANALYZER_STAGE_H
#define STAGEPROF_ANALYZER_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/events.h"
#include "trace/format.h"

enum sp_stage {
#define SP_STAGE(name, title) SP_STAGE_##name,
#include "trace/stages.def"
#undef SP_STAGE
	SP_STAGES
};

/* What a descriptor leads to. */
enum sp_place {
	SP_PLACE_UNKNOWN,
	SP_PLACE_FILE,	 /* regular files and directories */
	SP_PLACE_IMPORT, /* of them, Python's own modules */
	SP_PLACE_IPC,	 /* pipes, sockets, eventfd, memfd */
	SP_PLACE_DEVICE,
	SP_PLACE_KERNEL, /* procfs, sysfs and the like */
	SP_PLACES
};

const char *sp_stage_name(enum sp_stage stage);	 /* the contract of JSON and CSV */
const char *sp_stage_title(enum sp_stage stage); /* for people, in their language */

/* True where a byte count over the stage means something; and where bytes in a second do too. */
bool sp_stage_has_bytes(enum sp_stage stage);
bool sp_stage_has_rate(enum sp_stage stage);

/* Which of a report's two sums of traffic the stage's bytes are in. */
enum sp_traffic_way {
	SP_TRAFFIC_NONE,
	SP_TRAFFIC_READ,
	SP_TRAFFIC_WRITTEN,
};

enum sp_traffic_way sp_stage_traffic(enum sp_stage stage);

/* The path need not be NUL-terminated or UTF-8. */
enum sp_place sp_place_of(const struct sp_file_facts *facts, const char *path, size_t path_bytes);

/* What a file id tells by itself. */
enum sp_place sp_place_of_id(uint32_t file);

/* Copies of CUDA have no file: their direction takes the place's place. */
enum sp_place sp_place_of_copy(uint32_t arg);

/* Any kind, known or not. */
enum sp_stage sp_stage_of(uint32_t kind, enum sp_place place);

#endif
