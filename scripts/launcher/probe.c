#include "scripts/launcher/probe.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scripts/launcher/trouble.h"

#define PATIENCE_S 60
#define TEXT_BYTES_MAX (64u << 20)
#define STRING(x) #x
#define NUMBER(x) STRING(x)

/* probe.py as it is, with a NUL. */
__asm__(".pushsection .rodata\n"
	"sp_probe_text:\n"
	".incbin \"" SP_PROBE_FILE "\"\n"
	".byte 0\n"
	".popsection\n");
extern const char sp_probe_text[];

static const char *path_of(const struct sp_patient *p, char ret[SP_PATH_BYTES], const char *name)
{
	snprintf(ret, SP_PATH_BYTES, "%.*s/%s", SP_PATH_BYTES - 64, p->folder, name);
	return ret;
}

/* The whole of a small file, to be freed; NULL where there is none. */
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
#include "preload/config.def"
#undef SP_SETTING
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

/* The environment of the child: as `stageprof run` makes it, and everybody records. */
static void prepare(const struct sp_patient *p)
{
	char path[SP_PATH_BYTES];

	drop_settings();
	setenv("STAGEPROF_OUTPUT", path_of(p, path, "run.zst"), 1);
	setenv("STAGEPROF_CHILDREN", "all", 1);
	setenv("STAGEPROF_LINES", "0", 1);
	setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
	setenv("LD_DEBUG", "scopes", 1);
	setenv("LD_DEBUG_OUTPUT", path_of(p, path, "scopes"), 1);
	sp_install_preload(p->preload);
}

static void silence(const char *to)
{
	int null = open("/dev/null", O_RDWR), out = open(to, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	dup2(null, 0);
	dup2(out, 1);
	dup2(null, 2);
}

/* Runs argv to its end, under the library or with no preload at all; stdout goes to a file. Returns
 * what waitpid says, or -1. */
static int run_to(const char *const *argv, const struct sp_patient *preloaded, const char *out)
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

static void run_child(struct sp_patient *p)
{
	char facts[SP_PATH_BYTES], data[SP_PATH_BYTES];
	const struct sp_program *program = &p->program;
	/* A version manager's shim is a shell script: its name is python's, its interpreter is not.
	 */
	const char *shim = strncmp(strrchr(program->path, '/'), "/python", 7) == 0 ? program->path
										   : program->via;
	const char *python[] = {shim,
				"-c",
				sp_probe_text,
				path_of(p, facts, "facts"),
				path_of(p, data, "data"),
				NUMBER(SP_PROBE_READS),
				NUMBER(SP_PROBE_BYTES),
				NULL};
	const char *cat[] = {"cat", data, NULL};

	if (make_data(data) < 0)
		return;
	p->probe_status = run_to(program->is_python ? python : cat, p, "/dev/null");
	p->is_probed = true;
	p->facts = read_text(facts);
}

static char *report_on(const struct sp_patient *p, const char *view, const char *format,
		       const char *out_name)
{
	char run[SP_PATH_BYTES], out[SP_PATH_BYTES];
	const char *argv[] = {p->report, view, format, "--limit=all", path_of(p, run, "run.zst"),
			      NULL};
	int status;

	status = run_to(argv, NULL, path_of(p, out, out_name));
	return status == 0 ? read_text(out) : NULL;
}

/* The dynamic linker writes one file a process. */
static char *read_scopes(const struct sp_patient *p)
{
	char prefix[SP_PATH_BYTES], out[SP_PATH_BYTES];
	const char *argv[] = {"sh", "-c", "cat \"$0\".*", path_of(p, prefix, "scopes"), NULL};

	run_to(argv, NULL, path_of(p, out, "all"));
	return read_text(out);
}

void sp_probe_run(struct sp_patient *p)
{
	const char *scratch = getenv("TMPDIR");

	scratch = scratch && *scratch ? scratch : "/tmp";
	snprintf(p->folder, sizeof(p->folder), "%s/stageprof-doctor-XXXXXX", scratch);
	if (!mkdtemp(p->folder)) {
		p->folder[0] = '\0';
		sp_trouble_say(SP_TROUBLE_scratch, scratch, "it is full, or not to be written to",
			       NULL);
		return;
	}
	if (p->has_library != 0 || p->lookup != 0 || p->program.reach != SP_REACH_LOADED)
		return;
	run_child(p);
	p->scopes = read_scopes(p);
	if (p->has_report == 0) {
		p->files = report_on(p, "files", "--format=csv", "files");
		p->summary = report_on(p, "summary", "--format=json", "summary");
	}
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void sp_probe_finish(struct sp_patient *p)
{
	if (p->folder[0])
		nftw(p->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	free(p->facts);
	free(p->files);
	free(p->summary);
	free(p->scopes);
}

bool sp_probe_loads(const struct sp_patient *p, char said[512])
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
		sp_install_preload(p->preload);
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		execl(p->program.path, p->program.path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while (n < (int)sizeof(text) - 1 &&
	       (got = (int)read(ends[0], text + n, sizeof(text) - 1 - (size_t)n)) > 0)
		n += got;
	text[n] = '\0';
	close(ends[0]);
	waitpid(pid, NULL, 0);
	loaded = strstr(text, p->preload) && !strstr(text, "cannot be preloaded") &&
		 !strstr(text, "not found");
	snprintf(said, 512, "%.*s", (int)strcspn(text, "\n"), text);
	return loaded;
}

bool sp_patient_fact(const struct sp_patient *p, const char *name, char ret[256])
{
	size_t bytes = strlen(name);

	for (const char *line = p->facts; line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, name, bytes) == 0 && line[bytes] == '\t') {
			snprintf(ret, 256, "%.*s", (int)strcspn(line + bytes + 1, "\n"),
				 line + bytes + 1);
			return true;
		}
	return false;
}
