/*
 * What processes tell of themselves in definitions: their files, names of threads, what could not be
 * observed. Definitions may stand in another thread's file than their use, and after it: so they are all
 * read before any event is.
 */
#ifndef STAGEPROF_ANALYZER_FACTS_H
#define STAGEPROF_ANALYZER_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/index.h"
#include "analyzer/label.h"
#include "analyzer/names.h"
#include "analyzer/slow.h"
#include "analyzer/stage.h"

#define SP_FILE_COUNT_MAX (1u << 24) /* of one image; definitions beyond are passed over */
#define SP_LABEL_ID_MAX (1u << 20)   /* likewise */

enum sp_file_naming {
	SP_NAMING_NONE,
	SP_NAMING_PATH,
	SP_NAMING_EXTENSION, /* ".jpg"; of a thing without a path, its type */
};

/* What file system a name's files are on. */
enum sp_file_place { SP_FILE_ON_UNTOLD, SP_FILE_ON_SEVERAL, SP_FILE_ON_OTHER, SP_FILE_ON };

struct sp_image_facts {
	uint8_t *places;     /* enum sp_place by sp_file_count() */
	uint32_t *files;     /* name's number, likewise; NULL where no names are wanted */
	uint32_t file_room;  /* entries in both */
	uint32_t file_count; /* definitions seen */
	uint32_t *labels;    /* number in sp_facts.labels, by a name's id; NULL: no names */
	uint8_t *label_uses; /* enum sp_label, likewise */
	uint32_t label_room; /* entries in both */
	struct sp_cpu_facts cpus; /* zeros: not told */
	bool may_step;	     /* sp_label_may_step(), or it launched CUDA graphs */
	bool has_collectives; /* marked from the call to their end: SP_LABEL_COLLECTIVE */
	bool saves;	     /* sp_label_saves() */
	char *command;	     /* NUL-separated; NULL: not recorded */
	size_t command_bytes;
};

/* Strings, each with how often it came. */
struct sp_tally {
	struct sp_names names;
	uint64_t *counts; /* by number; [SP_NAMES_REST]: those that found no room */
};

/* What a thread told of its time on processors. */
struct sp_thread_usage {
	bool is_told;
	struct sp_usage_facts facts;
	struct sp_step_usage_facts first, last; /* at: 0 where no step told any */
};

struct sp_facts {
	struct sp_image_facts *images; /* parallel to index->images */
	char (*thread_names)[64];      /* parallel to index->streams; "" where none was given */
	struct sp_thread_usage *usages; /* likewise */
	struct sp_names files;
	uint8_t *file_systems; /* by number in files: enum sp_file_place, or SP_FILE_ON + row of the table */
	uint32_t file_system_room;
	struct sp_names labels; /* of ranges */
	struct sp_tally coverage; /* "hook-group\tstate\tdetail" */
	struct sp_tally notes;
	struct sp_slow_calls slow;
};

/*
 * Reads all definitions. At most names_max file names are kept. Returns 0 or -ENOMEM. Damage is passed
 * over in silence: the pass over events tells it.
 */
int sp_facts_read(struct sp_facts *facts, const struct sp_index *index, unsigned jobs,
		  enum sp_file_naming naming, uint32_t names_max);
void sp_facts_finish(struct sp_facts *facts, const struct sp_index *index);

/* The count in a file id; ids of one image differ in it. */
static inline uint32_t sp_file_count(uint32_t file)
{
	return file & ((1u << SP_FILE_TYPE_SHIFT) - 1);
}

/* Without a definition, what the id itself tells. */
static inline enum sp_place sp_image_place(const struct sp_image_facts *image, uint32_t file)
{
	uint32_t count = sp_file_count(file);
	enum sp_place place =
		count < image->file_room ? (enum sp_place)image->places[count] : SP_PLACE_UNKNOWN;

	return __builtin_expect(place != SP_PLACE_UNKNOWN, 1) ? place : sp_place_of_id(file);
}

/* "ext4", "nfs", …; "several", "other"; NULL: not told. Of a number in facts->files. */
const char *sp_facts_file_system(const struct sp_facts *facts, uint32_t file);

static inline uint32_t sp_image_file(const struct sp_image_facts *image, uint32_t file)
{
	uint32_t count = sp_file_count(file);

	return image->files && count < image->file_room ? image->files[count] : SP_NAMES_REST;
}

static inline uint32_t sp_image_label(const struct sp_image_facts *image, uint32_t id)
{
	return id < image->label_room ? image->labels[id] : SP_NAMES_REST;
}

static inline enum sp_label sp_image_label_use(const struct sp_image_facts *image, uint32_t id)
{
	return id < image->label_room ? (enum sp_label)image->label_uses[id] : SP_LABEL_OTHER;
}

#endif
