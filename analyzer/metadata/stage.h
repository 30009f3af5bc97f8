/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage of an event, from the event's class and from the kind of its file. The table is
 * trace/classes.def; the tables here are generated from it and from trace/stages.def.
 */
#ifndef STAGEPROF_ANALYZER_STAGE_H
#define STAGEPROF_ANALYZER_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/events.h"
#include "trace/format.h"

enum sp_stage {
#define SP_STAGE(name, title, bytes, traffic, work) SP_STAGE_##name,
#include "trace/stages.def"
#undef SP_STAGE
	SP_STAGES
};

/* The kind of object that a descriptor refers to. */
enum sp_fd_kind {
	SP_FD_KIND_UNKNOWN,
	SP_FD_KIND_FILE,   /* regular files and directories */
	SP_FD_KIND_IMPORT, /* regular files that are Python's own modules */
	SP_FD_KIND_IPC,	   /* pipes, sockets of this host, eventfd, memfd */
	SP_FD_KIND_DEVICE,
	SP_FD_KIND_KERNEL, /* procfs, sysfs and the like */
	SP_FD_KIND_NET,	   /* sockets of the internet */
	SP_FD_KINDS
};

const char *sp_stage_name(enum sp_stage stage);	 /* the contract of JSON and CSV */
const char *sp_stage_title(enum sp_stage stage); /* for people, in their language */

/* True where a sum of bytes over the stage has a meaning; and where bytes per second have one. */
bool sp_stage_has_bytes(enum sp_stage stage);
bool sp_stage_has_rate(enum sp_stage stage);

/* The sum of traffic, of those in a report, to which the stage's bytes are added. */
enum sp_traffic_way {
	SP_TRAFFIC_NONE,
	SP_TRAFFIC_READ, /* of files */
	SP_TRAFFIC_WRITTEN,
	SP_TRAFFIC_RECEIVED, /* over the network */
	SP_TRAFFIC_SENT,
};

enum sp_traffic_way sp_stage_traffic(enum sp_stage stage);

/* The path need not be NUL-terminated or UTF-8. */
enum sp_fd_kind sp_fd_kind_of(const struct sp_file_metadata *metadata, const char *path,
			      size_t path_bytes);

/* The kind that a file id contains. */
enum sp_fd_kind sp_fd_kind_of_id(uint32_t file);

/* Copies of CUDA have no file, so their direction stands for the kind. */
enum sp_fd_kind sp_fd_kind_of_copy(uint32_t arg);

/* kind: of any event, known or not. */
enum sp_stage sp_stage_of(uint32_t kind, enum sp_fd_kind fd_kind);

/* The stage of a class of events whose descriptor has this kind. */
enum sp_stage sp_class_stage(enum sp_class class, enum sp_fd_kind fd_kind);

/* The meaning of a class of events on the training thread. */
enum sp_step_use {
	SP_STEP_USE_NONE,
	SP_STEP_USE_INPUT,     /* data that is read or decoded */
	SP_STEP_USE_WRITE,     /* data that is written, by the descriptor */
	SP_STEP_USE_FSYNC,     /* a wait until it is on the disk */
	SP_STEP_USE_CHANGE,    /* files are renamed, removed, copied or given a size */
	SP_STEP_USE_FD,	       /* input or a wait, by the descriptor */
	SP_STEP_USE_AWAIT,     /* a wait for another thread or process */
	SP_STEP_USE_COPY,      /* a copy to or from the GPU */
	SP_STEP_USE_SYNC,      /* a wait for the GPU */
	SP_STEP_USE_GRAD_SYNC, /* a collective */
	SP_STEP_USE_GRAPH,     /* the launch of a graph */
	SP_STEP_USE_ALLOCATE,  /* memory of the device, made or freed */
};

enum sp_step_use sp_class_step_use(enum sp_class class);

/* The library that the calls of a class enter. */
enum sp_library {
	SP_LIBRARY_NONE,
	SP_LIBRARY_HDF5,
	SP_LIBRARY_DECODER, /* each decoder of trace/decoders.def is a library of its own */
	SP_LIBRARY_CUDA,
	SP_LIBRARY_NCCL,
};

enum sp_library sp_class_library(enum sp_class class);

#endif
