/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definitions that processes record: files, names of threads, labels, and the gaps of the
 * observation. A definition may be in another thread's file than its use, and after its use, so all
 * definitions are read before any event.
 */
#ifndef STAGEPROF_ANALYZER_METADATA_H
#define STAGEPROF_ANALYZER_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/reader/index.h"
#include "analyzer/metadata/label.h"
#include "analyzer/metadata/string_table.h"
#include "analyzer/metadata/counted_calls.h"
#include "analyzer/metadata/memory_growth.h"
#include "analyzer/metadata/slow_calls.h"
#include "analyzer/metadata/stage.h"

#define SP_FILE_COUNT_MAX (1u << 24)  /* of one process; definitions beyond are ignored */
#define SP_LABEL_ID_MAX (1u << 20)    /* of one process; labels beyond are ignored */
#define SP_TEXT_BYTES_MAX (64u << 20) /* of all names of a run; the others are the rest */
#define SP_REPORTED_NOTE (UINT32_C(1) << 31)
#define SP_REPORTED_MAX 1024u /* lines of coverage and notes of one process that a digest keeps */
#define SP_ID_BYTES_MAX (96u << 20) /* of the tables of ids of all processes */

enum sp_file_naming {
	SP_NAMING_NONE,
	SP_NAMING_PATH,
	SP_NAMING_EXTENSION, /* ".jpg"; for a descriptor without a path, its type */
};

/* The file system of the files that have one name. */
enum sp_file_fd_kind { SP_FILE_ON_UNKNOWN, SP_FILE_ON_SEVERAL, SP_FILE_ON_OTHER, SP_FILE_ON };

/* The cores of a process's group or machine at its first and its last report. */
struct sp_core_use {
	struct sp_cores_metadata first, last;
};

struct sp_process_metadata {
	uint8_t *fd_kinds;   /* enum sp_fd_kind by sp_file_count() */
	uint32_t *files;     /* number in sp_metadata.files by sp_file_count(); NULL: no names are
				wanted */
	uint32_t file_room;  /* entries in both */
	uint32_t file_count; /* definitions seen */
	uint32_t *labels;    /* number in sp_metadata.labels, by a name's id; NULL: no names */
	uint8_t *label_uses; /* enum sp_label by a name's id */
	uint32_t label_room; /* entries in both */
	struct sp_cpu_metadata cpus;	/* zeros: not known */
	struct sp_core_use core_use;	/* at: 0 where no step reported any */
	struct sp_memory_growth memory; /* of a process that makes batches */
	uint32_t shm_last;    /* the count of the last file in /dev/shm that it named; 0: none */
	bool may_step;	      /* sp_label_may_step(), or it launched CUDA graphs */
	bool has_collectives; /* marked from the call to their end: SP_LABEL_COLLECTIVE */
	bool has_exchanges;   /* sp_label_exchanges() */
	bool saves;	      /* sp_label_saves() */
	bool fetches;	      /* sp_label_fetches() */
	bool asks_loader;     /* SP_LABEL_LOADER */
	bool casts;	      /* sp_label_casts() */
	bool compiles;	      /* sp_label_covers_compile() */
	uint32_t *reported;   /* where keeps_reported: numbers in coverage, or with SP_REPORTED_NOTE
				 in notes */
	uint32_t reported_count, reported_room;
	char *command; /* NUL-separated; NULL: not recorded */
	size_t command_bytes;
};

/* Strings, and the number of times that each was added. */
struct sp_tally {
	struct sp_string_table names;
	uint64_t *counts; /* by number; [SP_STRINGS_REST]: strings that found no room */
};

/* The processor time that a thread reported. */
struct sp_thread_usage {
	bool is_known;
	struct sp_rusage_metadata whole;
	struct sp_step_rusage_metadata first, last; /* at: 0 where no step reported any */
};

struct sp_metadata {
	bool keeps_reported; /* set by the caller: what each process said is kept apart */
	bool times_device;   /* sp_label_covers_device() in some process */
	struct sp_text_budget texts;
	uint64_t id_bytes_left;
	struct sp_process_metadata *images; /* parallel to index->images */
	char (*thread_names)[64];	/* parallel to index->streams; "" where none was given */
	struct sp_thread_usage *usages; /* parallel to index->streams */
	struct sp_string_table files;
	uint8_t *file_systems; /* by number in files: enum sp_file_fd_kind, or SP_FILE_ON + row of
				  the table */
	uint32_t file_system_room;
	struct sp_string_table labels; /* of ranges */
	struct sp_tally coverage;      /* "hook-group\tstate\tdetail" */
	struct sp_tally notes;
	struct sp_slow_calls slow;
	struct sp_counted_calls counted[SP_COUNTED_KINDS];
};

/* Adds a string so many times. */
void sp_tally_add(struct sp_tally *tally, const char *text, size_t bytes, uint64_t times);

/* True where a line of coverage is `line`, or begins with it where it ends in a tab. */
bool sp_metadata_has_coverage(const struct sp_metadata *metadata, const char *line);

/* Adds a file of a digest, on a file system of this name; "" where it is not known. Returns its
 * number in metadata->files. */
uint32_t sp_metadata_add_file(struct sp_metadata *metadata, const char *path, size_t bytes,
			      const char *file_system);

/* The first command of a process image is kept. Returns 0 or -ENOMEM. */
int sp_metadata_add_command(struct sp_metadata *metadata, uint32_t image, const uint8_t *words,
			    uint32_t bytes);

/* Names that found no room, and texts of other kinds. */
uint64_t sp_metadata_refused(const struct sp_metadata *metadata);

/*
 * Reads all definitions. At most names_max file names are kept, and text_bytes of all texts.
 * Returns 0 or -ENOMEM. Damage is not reported here, because the pass over events reports it.
 */
int sp_metadata_read(struct sp_metadata *metadata, const struct sp_index *index, unsigned jobs,
		     enum sp_file_naming naming, uint32_t names_max, uint64_t text_bytes);
void sp_metadata_finish(struct sp_metadata *metadata, const struct sp_index *index);

/* True for the path of a file in /dev/shm. */
bool sp_metadata_is_shm(const char *path, size_t bytes);

/* The count in a file id. No two files of one process have the same count. */
static inline uint32_t sp_file_count(uint32_t file)
{
	return file & ((1u << SP_FILE_TYPE_SHIFT) - 1);
}

/* The kind in the definition of a file, or, without a definition, the kind in the file id. */
static inline enum sp_fd_kind sp_process_fd_kind(const struct sp_process_metadata *image,
						 uint32_t file)
{
	uint32_t count = sp_file_count(file);
	enum sp_fd_kind fd_kind = count < image->file_room ? (enum sp_fd_kind)image->fd_kinds[count]
							   : SP_FD_KIND_UNKNOWN;

	return __builtin_expect(fd_kind != SP_FD_KIND_UNKNOWN, 1) ? fd_kind
								  : sp_fd_kind_of_id(file);
}

/* "ext4", "nfs", …; "several", "other"; NULL: not known. file: a number in metadata->files. */
const char *sp_metadata_file_system(const struct sp_metadata *metadata, uint32_t file);

static inline uint32_t sp_process_file(const struct sp_process_metadata *image, uint32_t file)
{
	uint32_t count = sp_file_count(file);

	return image->files && count < image->file_room ? image->files[count] : SP_STRINGS_REST;
}

static inline uint32_t sp_process_label(const struct sp_process_metadata *image, uint32_t id)
{
	return id < image->label_room ? image->labels[id] : SP_STRINGS_REST;
}

static inline enum sp_label sp_process_label_use(const struct sp_process_metadata *image,
						 uint32_t id)
{
	return id < image->label_room ? (enum sp_label)image->label_uses[id] : SP_LABEL_OTHER;
}

#endif
