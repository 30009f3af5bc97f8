/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/doctor/probe.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scripts/launcher/launcher_error.h"
#include "trace/frameworks.h"

#define PATIENCE_S 60
#define TEXT_BYTES_MAX (64u << 20)
#define STRING(x) #x
#define NUMBER(x) STRING(x)

/* probe.py, unchanged, with a NUL. */
__asm__(".pushsection .rodata\n"
	"sp_probe_text:\n"
	".incbin \"" SP_PROBE_FILE "\"\n"
	".byte 0\n"
	".popsection\n");
extern const char sp_probe_text[];

static const char *path_of(const struct sp_doctor_context *context, char ret[SP_PATH_BYTES],
			   const char *name)
{
	snprintf(ret, SP_PATH_BYTES, "%.*s/%s", SP_PATH_BYTES - 64, context->folder, name);
	return ret;
}

/* The content of a small file; the caller frees it. NULL where the file cannot be read. */
static char *read_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text = NULL;
	ssize_t n = 0, got = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size < TEXT_BYTES_MAX)
		text = calloc(1, (size_t)st.st_size + 1);
	while (text && n < st.st_size && (got = read(fd, text + n, (size_t)(st.st_size - n))) > 0)
		n += got;
	if (fd >= 0)
		close(fd);
	return text;
}

static void drop_settings(void)
{
	static const char *const names[] = {
#define SP_SETTING(field, variable, form, meaning) variable,
#define SP_SETTING_OWN SP_SETTING
#include "preload/settings/config.def"
#undef SP_SETTING
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

/* Sets the child's environment as `stageprof run` does, with recording in every program. */
static void prepare(const struct sp_doctor_context *context)
{
	char path[SP_PATH_BYTES];

	drop_settings();
	setenv("STAGEPROF_OUTPUT", path_of(context, path, "run.zst"), 1);
	setenv("STAGEPROF_CHILDREN", "all", 1);
	setenv("STAGEPROF_WITHOUT", "lines", 1);
	setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
	setenv("LD_DEBUG", "scopes", 1);
	setenv("LD_DEBUG_OUTPUT", path_of(context, path, "scopes"), 1);
	sp_install_preload(context->preload);
}

static void silence(const char *to)
{
	int null = open("/dev/null", O_RDWR), out = open(to, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	dup2(null, 0);
	dup2(out, 1);
	dup2(null, 2);
}

/* Runs argv to its end, under the library or without any preload; stdout goes to a file. Returns
 * the status of waitpid, or -1. */
static int run_to(const char *const *argv, const struct sp_doctor_context *preloaded,
		  const char *out)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		if (preloaded)
			prepare(preloaded);
		else
			unsetenv("LD_PRELOAD");
		silence(out);
		alarm(PATIENCE_S); /* exec keeps it */
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return status;
}

static int make_data(const char *path)
{
	FILE *file = fopen(path, "w");
	int r = file && ftruncate(fileno(file), SP_PROBE_READS * SP_PROBE_BYTES) == 0 ? 0 : -1;

	if (file)
		fclose(file);
	return r;
}

/* Frameworks that train without recorded steps, for probe.py. */
static const char *unseen_frameworks(void)
{
	static const struct {
		const char *module, *title;
		unsigned gives;
	} rows[] = {
#define SP_FRAMEWORK(name, title, module, object, instead, gives) {module, title, gives},
#include "trace/frameworks.def"
#undef SP_FRAMEWORK
	};
	static char text[1024];
	size_t used = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && used < sizeof(text); i++)
		if (*rows[i].module && !(rows[i].gives & (SP_GIVES_STEPS | SP_TRAINS_NOTHING)))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s=%s",
						 used ? "," : "", rows[i].module, rows[i].title);
	return text;
}

#define COMMAND_WORDS_MAX 32u

static void run_child(struct sp_doctor_context *context)
{
	char properties[SP_PATH_BYTES], data[SP_PATH_BYTES];
	const struct sp_program *program = &context->program;
	/* A version manager's shim is a shell script with Python's name and another interpreter. */
	const char *shim = strncmp(strrchr(program->path, '/'), "/python", 7) == 0 ? program->path
										   : program->via;
	const char *python[8 + COMMAND_WORDS_MAX + 1] = {shim,
							 "-c",
							 sp_probe_text,
							 path_of(context, properties, "properties"),
							 path_of(context, data, "data"),
							 NUMBER(SP_PROBE_READS),
							 NUMBER(SP_PROBE_BYTES),
							 unseen_frameworks()};
	const char *cat[] = {"cat", data, NULL};

	for (size_t i = 0; context->command && context->command[i] && i < COMMAND_WORDS_MAX; i++)
		python[8 + i] = context->command[i];

	if (make_data(data) < 0)
		return;
	context->probe_status = run_to(program->is_python ? python : cat, context, "/dev/null");
	context->is_probed = true;
	context->properties = read_text(properties);
}

static char *report_on(const struct sp_doctor_context *context, const char *view,
		       const char *format, const char *out_name)
{
	char run[SP_PATH_BYTES], out[SP_PATH_BYTES];
	const char *argv[] = {context->report,
			      view,
			      format,
			      "--limit=all",
			      path_of(context, run, "run.zst"),
			      NULL};
	int status;

	status = run_to(argv, NULL, path_of(context, out, out_name));
	return status == 0 ? read_text(out) : NULL;
}

/* The dynamic linker writes one file a process. */
static char *read_scopes(const struct sp_doctor_context *context)
{
	char prefix[SP_PATH_BYTES], out[SP_PATH_BYTES];
	const char *argv[] = {"sh", "-c", "cat \"$0\".*", path_of(context, prefix, "scopes"), NULL};

	run_to(argv, NULL, path_of(context, out, "all"));
	return read_text(out);
}

void sp_probe_run(struct sp_doctor_context *context)
{
	const char *scratch = getenv("TMPDIR");

	scratch = scratch && *scratch ? scratch : "/tmp";
	snprintf(context->folder, sizeof(context->folder), "%s/stageprof-doctor-XXXXXX", scratch);
	if (!mkdtemp(context->folder)) {
		context->folder[0] = '\0';
		sp_error_print(SP_ERROR_scratch, scratch, "it is full or not writable", NULL);
		return;
	}
	if (context->has_library != 0 || context->lookup != 0 ||
	    context->program.reach != SP_REACH_LOADED)
		return;
	run_child(context);
	context->scopes = read_scopes(context);
	if (context->has_report == 0) {
		context->files = report_on(context, "files", "--format=csv", "files");
		context->summary = report_on(context, "summary", "--format=json", "summary");
	}
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void sp_probe_finish(struct sp_doctor_context *context)
{
	if (context->folder[0])
		nftw(context->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	free(context->properties);
	free(context->files);
	free(context->summary);
	free(context->scopes);
}

bool sp_probe_loads(const struct sp_doctor_context *context, char message[512])
{
	int ends[2], n = 0, got;
	bool loaded;
	char text[65536];
	pid_t pid;

	if (pipe(ends) < 0 || (pid = fork()) < 0)
		return false;
	if (pid == 0) {
		drop_settings();
		setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
		sp_install_preload(context->preload);
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		execl(context->program.path, context->program.path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while (n < (int)sizeof(text) - 1 &&
	       (got = (int)read(ends[0], text + n, sizeof(text) - 1 - (size_t)n)) > 0)
		n += got;
	text[n] = '\0';
	close(ends[0]);
	waitpid(pid, NULL, 0);
	loaded = strstr(text, context->preload) && !strstr(text, "cannot be preloaded") &&
		 !strstr(text, "not found");
	snprintf(message, 512, "%.*s", (int)strcspn(text, "\n"), text);
	return loaded;
}
