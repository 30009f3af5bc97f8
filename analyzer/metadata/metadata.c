/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/metadata.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/metadata/definition_parser.h"
#include "analyzer/base/jobs.h"
#include "analyzer/base/grow.h"
#include "analyzer/reader/reader.h"
#include "trace/filesystems.h"

#define TALLY_NAMES_MAX 256u

struct worker {
	struct sp_reader reader;
	struct sp_definition_parser definer;
	struct definitions_pass *pass;
	uint32_t stream;
};

struct definitions_pass {
	struct sp_metadata *metadata;
	const struct sp_index *index;
	enum sp_file_naming naming;
	pthread_mutex_t lock; /* one lock for all metadata, because definitions are few */
	struct worker *workers;
};

static int tally_init(struct sp_tally *t)
{
	t->counts = calloc(TALLY_NAMES_MAX + 1, sizeof(*t->counts));
	return t->counts ? sp_string_table_init(&t->names, TALLY_NAMES_MAX) : -ENOMEM;
}

void sp_tally_add(struct sp_tally *t, const char *text, size_t bytes, uint64_t times)
{
	t->counts[sp_string_table_add(&t->names, text, bytes)] += times;
}

/* A process says a few dozen lines. */
static int keep_reported(struct sp_process_metadata *image, uint32_t what)
{
	uint32_t *added;

	if (image->reported_count >= SP_REPORTED_MAX)
		return 0;
	added = SP_LIST_ADD(image->reported, image->reported_count, image->reported_room);
	if (!added)
		return -ENOMEM;
	*added = what;
	return 0;
}

static int tally_add(struct sp_metadata *metadata, struct sp_process_metadata *image,
		     const struct sp_definition *d, bool is_note)
{
	struct sp_tally *t = is_note ? &metadata->notes : &metadata->coverage;
	uint32_t number = sp_string_table_add(&t->names, (const char *)d->blob, d->bytes);

	t->counts[number]++;
	if (!metadata->keeps_reported || number == SP_STRINGS_REST)
		return 0;
	return keep_reported(image, number | (is_note ? SP_REPORTED_NOTE : 0));
}

/* Copies what is not zero: a table of calloc's has pages where something was stored. */
static void copy_touched(void *to, const void *from, size_t bytes)
{
	static const uint8_t zeros[4096];

	for (size_t at = 0; at < bytes; at += sizeof(zeros)) {
		size_t n = bytes - at < sizeof(zeros) ? bytes - at : sizeof(zeros);

		if (memcmp((const uint8_t *)from + at, zeros, n) != 0)
			memcpy((uint8_t *)to + at, (const uint8_t *)from + at, n);
	}
}

/* False where the tables of ids of all processes would take more than they may. */
static bool id_bytes_take(struct sp_metadata *metadata, uint64_t bytes)
{
	if (bytes > metadata->id_bytes_left)
		return false;
	metadata->id_bytes_left -= bytes;
	return true;
}

/* Without room the image's tables stay as they are. */
static int room_for(struct sp_metadata *metadata, struct sp_process_metadata *image, uint32_t count,
		    bool with_names)
{
	uint32_t room = image->file_room ? image->file_room : 64;
	uint8_t *fd_kinds;
	uint32_t *files = NULL;

	if (count < image->file_room)
		return 0;
	while (room <= count)
		room *= 2;
	if (!id_bytes_take(metadata,
			   (uint64_t)(room - image->file_room) *
				   (sizeof(*fd_kinds) + (with_names ? sizeof(*files) : 0))))
		return 0;
	/* calloc, so that a hostile count costs address space and not memory */
	fd_kinds = calloc(room, sizeof(*fd_kinds));
	if (with_names)
		files = calloc(room, sizeof(*files));
	if (!fd_kinds || (with_names && !files)) {
		free(fd_kinds);
		free(files);
		return -ENOMEM;
	}
	if (image->file_room) {
		copy_touched(fd_kinds, image->fd_kinds, image->file_room * sizeof(*fd_kinds));
		if (with_names)
			copy_touched(files, image->files, image->file_room * sizeof(*files));
	}
	free(image->fd_kinds);
	free(image->files);
	image->fd_kinds = fd_kinds;
	image->files = files;
	image->file_room = room;
	return 0;
}

static const char *type_name(uint32_t type)
{
	static const char *const types[SP_FILE_TYPES] = {
		"(unknown)",	     "(no extension)",	   "(directory)",    "(pipe)",
		"(socket)",	     "(character device)", "(block device)", "(anonymous)",
		"(procfs or sysfs)", "(network)",
	};

	return types[type < SP_FILE_TYPES ? type : 0];
}

/* "x.tar.gz" counts as ".gz"; a name that only begins with a dot has none; long ones are no
 * extensions. */
static uint32_t extension_name(struct sp_string_table *names, const struct sp_file_metadata *f,
			       const char *path, size_t bytes)
{
	const char *slash = memrchr(path, '/', bytes), *dot = memrchr(path, '.', bytes);
	const char *end = path + bytes, *base = slash ? slash + 1 : path;

	if (f->type == SP_FILE_REGULAR && dot && dot > base && end - dot > 1 && end - dot <= 16)
		return sp_string_table_add(names, dot, (size_t)(end - dot));
	return sp_string_table_add(names, type_name(f->type), strlen(type_name(f->type)));
}

static uint8_t file_system_of(const struct sp_file_metadata *f)
{
	uint32_t row = sp_file_system_row(f->fs_magic);

	if (!f->fs_magic)
		return SP_FILE_ON_UNKNOWN;
	return row < sp_file_systems() ? (uint8_t)(SP_FILE_ON + row) : SP_FILE_ON_OTHER;
}

static int file_system_note(struct sp_metadata *metadata, uint32_t file, uint8_t fd_kind)
{
	uint8_t *fd_kinds = metadata->file_systems;

	if (file >= metadata->file_system_room) {
		uint32_t room = file + file / 2 + 64;

		fd_kinds = realloc(fd_kinds, room);
		if (!fd_kinds)
			return -ENOMEM;
		memset(fd_kinds + metadata->file_system_room, SP_FILE_ON_UNKNOWN,
		       room - metadata->file_system_room);
		metadata->file_systems = fd_kinds;
		metadata->file_system_room = room;
	}
	if (fd_kinds[file] == SP_FILE_ON_UNKNOWN)
		fd_kinds[file] = fd_kind;
	else if (fd_kind != SP_FILE_ON_UNKNOWN && fd_kinds[file] != fd_kind)
		fd_kinds[file] = SP_FILE_ON_SEVERAL;
	return 0;
}

const char *sp_metadata_file_system(const struct sp_metadata *metadata, uint32_t file)
{
	uint8_t fd_kind = file < metadata->file_system_room ? metadata->file_systems[file]
							    : SP_FILE_ON_UNKNOWN;

	if (fd_kind >= SP_FILE_ON)
		return sp_file_system(fd_kind - SP_FILE_ON)->name;
	return fd_kind == SP_FILE_ON_UNKNOWN   ? NULL
	       : fd_kind == SP_FILE_ON_SEVERAL ? "several"
					       : "other";
}

bool sp_metadata_has_coverage(const struct sp_metadata *metadata, const char *line)
{
	const struct sp_string_table *lines = &metadata->coverage.names;
	size_t wanted = strlen(line);
	bool is_head = wanted && line[wanted - 1] == '\t';

	for (uint32_t i = 1; i < lines->count; i++) {
		size_t bytes;
		const char *text = sp_string_table_text(lines, i, &bytes);

		if ((is_head ? bytes >= wanted : bytes == wanted) &&
		    memcmp(text, line, wanted) == 0)
			return true;
	}
	return false;
}

uint32_t sp_metadata_add_file(struct sp_metadata *metadata, const char *path, size_t bytes,
			      const char *file_system)
{
	uint32_t file = sp_string_table_add(&metadata->files, path, bytes), row = 0;
	uint8_t place = *file_system ? SP_FILE_ON_OTHER : SP_FILE_ON_UNKNOWN;

	while (row < sp_file_systems() && strcmp(sp_file_system(row)->name, file_system) != 0)
		row++;
	if (row < sp_file_systems())
		place = (uint8_t)(SP_FILE_ON + row);
	else if (strcmp(file_system, "several") == 0)
		place = SP_FILE_ON_SEVERAL;
	(void)file_system_note(metadata, file, place); /* without memory it is not known */
	return file;
}

bool sp_metadata_is_shm(const char *path, size_t bytes)
{
	static const char shm[] = "/dev/shm/";

	return bytes >= sizeof(shm) - 1 && memcmp(path, shm, sizeof(shm) - 1) == 0;
}

static int define_file(struct definitions_pass *pass, struct sp_process_metadata *image,
		       const struct sp_definition *d)
{
	struct sp_file_metadata f;
	const char *path = (const char *)d->blob + sizeof(f);
	size_t bytes = d->bytes - sizeof(f);
	uint32_t count = sp_file_count(d->id);
	int r;

	if (d->bytes < sizeof(f) || count >= SP_FILE_COUNT_MAX)
		return 0;
	memcpy(&f, d->blob, sizeof(f));
	r = room_for(pass->metadata, image, count, pass->naming != SP_NAMING_NONE);
	if (r < 0 || count >= image->file_room)
		return r;
	image->fd_kinds[count] = sp_fd_kind_of(&f, path, bytes);
	image->file_count++;
	if (sp_metadata_is_shm(path, bytes))
		image->shm_last = count;
	if (pass->naming == SP_NAMING_PATH)
		image->files[count] = sp_string_table_add(&pass->metadata->files, path, bytes);
	else if (pass->naming == SP_NAMING_EXTENSION)
		image->files[count] = extension_name(&pass->metadata->files, &f, path, bytes);
	if (pass->naming != SP_NAMING_NONE)
		r = file_system_note(pass->metadata, image->files[count], file_system_of(&f));
	return r;
}

static int room_for_label(struct sp_metadata *metadata, struct sp_process_metadata *image,
			  uint32_t id)
{
	uint32_t room = image->label_room ? image->label_room : 64;
	uint32_t *labels;
	uint8_t *uses;

	if (id < image->label_room)
		return 0;
	while (room <= id)
		room *= 2;
	if (!id_bytes_take(metadata, (uint64_t)(room - image->label_room) *
					     (sizeof(*labels) + sizeof(*uses))))
		return 0;
	labels = calloc(room, sizeof(*labels));
	uses = calloc(room, sizeof(*uses));
	if (!labels || !uses) {
		free(labels);
		free(uses);
		return -ENOMEM;
	}
	if (image->label_room) {
		copy_touched(labels, image->labels, image->label_room * sizeof(*labels));
		copy_touched(uses, image->label_uses, image->label_room * sizeof(*uses));
	}
	free(image->labels);
	free(image->label_uses);
	image->labels = labels;
	image->label_uses = uses;
	image->label_room = room;
	return 0;
}

static int define_label(struct sp_metadata *metadata, struct sp_process_metadata *image,
			const struct sp_definition *d)
{
	const char *text = (const char *)d->blob;

	if (d->id >= SP_LABEL_ID_MAX)
		return 0;
	if (room_for_label(metadata, image, d->id) < 0)
		return -ENOMEM;
	if (d->id >= image->label_room)
		return 0;
	image->labels[d->id] =
		sp_string_table_add(&metadata->labels, text, sp_label_bytes(text, d->bytes));
	image->label_uses[d->id] = (uint8_t)sp_label_of(text, d->bytes);
	image->may_step |= sp_label_may_step(text, d->bytes);
	image->has_collectives |= image->label_uses[d->id] == SP_LABEL_COLLECTIVE;
	image->has_exchanges |= sp_label_exchanges(text, d->bytes);
	image->saves |= sp_label_saves(text, d->bytes);
	image->fetches |= sp_label_fetches(text, d->bytes);
	image->asks_loader |= image->label_uses[d->id] == SP_LABEL_LOADER;
	image->casts |= sp_label_casts(text, d->bytes);
	return 0;
}

int sp_metadata_add_command(struct sp_metadata *metadata, uint32_t number, const uint8_t *words,
			    uint32_t bytes)
{
	struct sp_process_metadata *image = &metadata->images[number];

	if (image->command || !sp_text_budget_take(&metadata->texts, bytes + UINT64_C(1)))
		return 0;
	image->command = malloc(bytes + (size_t)1);
	if (!image->command)
		return -ENOMEM;
	memcpy(image->command, words, bytes);
	image->command[bytes] = '\0';
	image->command_bytes = bytes;
	return 0;
}

static void define_thread(struct sp_metadata *metadata, uint32_t stream,
			  const struct sp_definition *d)
{
	size_t room = sizeof(metadata->thread_names[0]) - 1;
	size_t n = strnlen((const char *)d->blob, d->bytes < room ? d->bytes : room);

	memset(metadata->thread_names[stream], 0, room + 1);
	memcpy(metadata->thread_names[stream], d->blob, n);
}

static void define_cpus(struct sp_process_metadata *image, const struct sp_definition *d)
{
	size_t bytes = d->bytes < sizeof(image->cpus) ? d->bytes : sizeof(image->cpus);

	if (bytes >= SP_CPU_METADATA_LEAST)
		memcpy(&image->cpus, d->blob, bytes);
}

static void define_usage(struct sp_thread_usage *usage, const struct sp_definition *d)
{
	if (d->bytes < sizeof(usage->whole))
		return;
	memcpy(&usage->whole, d->blob, sizeof(usage->whole));
	usage->is_known = true;
}

/* The ticks with which reports of both kinds begin. */
static uint64_t at_of(const void *report)
{
	uint64_t at;

	memcpy(&at, report, sizeof(at));
	return at;
}

_Static_assert(offsetof(struct sp_step_rusage_metadata, at) == 0, "at_of() reads the first field");
_Static_assert(offsetof(struct sp_cores_metadata, at) == 0, "at_of() reads the first field");

/* Keeps the earliest and the latest of the reports. */
static void define_ends(void *first, void *last, size_t bytes, const struct sp_definition *d)
{
	if (d->bytes < bytes)
		return;
	if (!at_of(first) || at_of(d->blob) < at_of(first))
		memcpy(first, d->blob, bytes);
	if (at_of(d->blob) > at_of(last))
		memcpy(last, d->blob, bytes);
}

static void define_memory(struct sp_memory_growth *growth, const struct sp_definition *d)
{
	struct sp_memory_metadata memory;

	if (d->bytes < sizeof(memory))
		return;
	memcpy(&memory, d->blob, sizeof(memory));
	sp_memory_growth_add(growth, &memory);
}

static int define_calls(struct definitions_pass *pass, uint32_t image,
			const struct sp_definition *d)
{
	const struct sp_host *host = &pass->index->hosts[pass->index->images[image].host];

	return sp_counted_take(pass->metadata->counted, image, host->clock.ns_per_tick, d);
}

static int define(struct definitions_pass *pass, uint32_t stream, const struct sp_definition *d)
{
	struct sp_process_metadata *image =
		&pass->metadata->images[pass->index->streams[stream]->image];
	struct sp_thread_usage *usage = &pass->metadata->usages[stream];

	switch (d->what) {
	case SP_DEFINE_FILE:
		return define_file(pass, image, d);
	case SP_DEFINE_NAME:
		return define_label(pass->metadata, image, d);
	case SP_DEFINE_COMMAND:
		return sp_metadata_add_command(pass->metadata, pass->index->streams[stream]->image,
					       d->blob, d->bytes);
	case SP_DEFINE_THREAD:
		define_thread(pass->metadata, stream, d);
		return 0;
	case SP_DEFINE_CPUS:
		define_cpus(image, d);
		return 0;
	case SP_DEFINE_RUSAGE:
		define_usage(usage, d);
		return 0;
	case SP_DEFINE_STEP_RUSAGE:
		define_ends(&usage->first, &usage->last, sizeof(usage->first), d);
		return 0;
	case SP_DEFINE_CORES:
		define_ends(&image->core_use.first, &image->core_use.last,
			    sizeof(image->core_use.first), d);
		return 0;
	case SP_DEFINE_MEMORY:
		define_memory(&image->memory, d);
		return 0;
	case SP_DEFINE_COVERAGE:
		image->may_step |= sp_label_covers_graphs((const char *)d->blob, d->bytes);
		pass->metadata->times_device |=
			sp_label_covers_device((const char *)d->blob, d->bytes);
		image->compiles |= sp_label_covers_compile((const char *)d->blob, d->bytes);
		return tally_add(pass->metadata, image, d, false);
	case SP_DEFINE_NOTE:
		return tally_add(pass->metadata, image, d, true);
	case SP_DEFINE_CALLS:
	case SP_DEFINE_CALLED:
		return define_calls(pass, pass->index->streams[stream]->image, d);
	}
	return sp_slow_take(&pass->metadata->slow, pass->index->streams[stream]->image, d);
}

static int defined(void *context, const struct sp_definition *d)
{
	struct worker *w = context;
	int r;

	pthread_mutex_lock(&w->pass->lock);
	r = define(w->pass, w->stream, d);
	pthread_mutex_unlock(&w->pass->lock);
	return r;
}

static bool has_definitions(void *context, const struct sp_block_header *block)
{
	(void)context;
	return block->events != block->slots && !(block->flags & SP_BLOCK_NO_DEFINITIONS);
}

static int read_stream(void *context, unsigned worker, uint32_t i)
{
	struct definitions_pass *pass = context;
	struct worker *w = &pass->workers[worker];
	struct sp_batch batch;
	int r = 0;

	w->stream = i;
	sp_definition_parser_reset(&w->definer);
	sp_reader_open(&w->reader, pass->index, pass->index->streams[i]);
	while (r == 0 && sp_reader_next(&w->reader, &batch))
		r = sp_definition_parser_take(&w->definer, &batch);
	return r;
}

static int workers_init(struct definitions_pass *pass, unsigned jobs)
{
	int r = 0;

	pass->workers = calloc(jobs, sizeof(*pass->workers));
	if (!pass->workers)
		return -ENOMEM;
	for (unsigned i = 0; i < jobs; i++) {
		struct worker *w = &pass->workers[i];

		w->pass = pass;
		w->definer.defined = defined;
		w->definer.context = w;
		if (sp_reader_init(&w->reader) < 0)
			r = -ENOMEM;
		w->reader.want = has_definitions;
	}
	return r;
}

static void budget_share(struct sp_metadata *metadata)
{
	struct sp_text_budget *texts = &metadata->texts;

	metadata->files.budget = metadata->labels.budget = texts;
	metadata->coverage.names.budget = metadata->notes.names.budget = texts;
	metadata->slow.texts = metadata->slow.lines.texts = texts;
	for (int i = 0; i < SP_COUNTED_KINDS; i++)
		metadata->counted[i].texts = texts;
}

uint64_t sp_metadata_refused(const struct sp_metadata *metadata)
{
	return metadata->files.turned_away + metadata->labels.turned_away;
}

static int processes_init(struct sp_metadata *metadata, const struct sp_index *index,
			  uint32_t names_max, uint64_t text_bytes)
{
	*metadata = (struct sp_metadata){.keeps_reported = metadata->keeps_reported,
					 .texts.left_bytes = text_bytes,
					 .id_bytes_left = SP_ID_BYTES_MAX};
	metadata->images = calloc(index->image_count + 1, sizeof(*metadata->images));
	metadata->thread_names = calloc(index->stream_count + 1, sizeof(*metadata->thread_names));
	metadata->usages = calloc(index->stream_count + 1, sizeof(*metadata->usages));
	if (!metadata->images || !metadata->thread_names || !metadata->usages ||
	    sp_string_table_init(&metadata->files, names_max) < 0 ||
	    sp_string_table_init(&metadata->labels, names_max) < 0 ||
	    tally_init(&metadata->coverage) < 0 || tally_init(&metadata->notes) < 0)
		return -ENOMEM;
	budget_share(metadata);
	return 0;
}

int sp_metadata_read(struct sp_metadata *metadata, const struct sp_index *index, unsigned jobs,
		     enum sp_file_naming naming, uint32_t names_max, uint64_t text_bytes)
{
	struct definitions_pass pass = {.metadata = metadata, .index = index, .naming = naming};
	int r = processes_init(metadata, index, names_max, text_bytes);

	/* The order of the names decides which of them find room, and only a single worker keeps
	 * that order. */
	if (naming != SP_NAMING_NONE)
		jobs = 1;
	pthread_mutex_init(&pass.lock, NULL);
	if (r == 0)
		r = workers_init(&pass, jobs);
	if (r == 0)
		r = sp_jobs_run(jobs, index->stream_count, read_stream, &pass);
	for (unsigned i = 0; pass.workers && i < jobs; i++)
		sp_reader_finish(&pass.workers[i].reader);
	free(pass.workers);
	sp_slow_sort(&metadata->slow);
	for (int i = 0; i < SP_COUNTED_KINDS; i++)
		sp_counted_sort(&metadata->counted[i]);
	pthread_mutex_destroy(&pass.lock);
	return r;
}

void sp_metadata_finish(struct sp_metadata *metadata, const struct sp_index *index)
{
	for (uint32_t i = 0; metadata->images && i < index->image_count; i++) {
		free(metadata->images[i].fd_kinds);
		free(metadata->images[i].files);
		free(metadata->images[i].labels);
		free(metadata->images[i].label_uses);
		free(metadata->images[i].reported);
		free(metadata->images[i].command);
	}
	free(metadata->images);
	free(metadata->thread_names);
	free(metadata->usages);
	free(metadata->file_systems);
	sp_slow_finish(&metadata->slow);
	for (int i = 0; i < SP_COUNTED_KINDS; i++)
		sp_counted_finish(&metadata->counted[i]);
	sp_string_table_finish(&metadata->files);
	sp_string_table_finish(&metadata->labels);
	sp_string_table_finish(&metadata->coverage.names);
	sp_string_table_finish(&metadata->notes.names);
	free(metadata->coverage.counts);
	free(metadata->notes.counts);
}
