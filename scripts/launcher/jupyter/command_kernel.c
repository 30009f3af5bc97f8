/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stageprof kernel install: writes a kernelspec for Jupyter, whose kernel is a Python's under
 * `stageprof run`. A notebook picks the kernel by its name; the other kernels do not change.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/text/help.h"
#include "analyzer/text/json.h"
#include "analyzer/text/translate.h"
#include "scripts/launcher/command.h"
#include "scripts/launcher/install.h"
#include "scripts/launcher/jupyter/kernel_python.h"
#include "scripts/launcher/launcher_error.h"
#include "scripts/launcher/program.h"

#define NAME "stageprof"

enum kernel_key { USER_KEY = 1, SYS_PREFIX_KEY, PREFIX_KEY, PYTHON_KEY };

struct kernel_options {
	enum kernel_key place;
	const char *prefix; /* of PREFIX_KEY */
	const char *python;
	const char *output; /* NULL: as `stageprof run` names it */
};

static const struct argp_option options[] = {
	{"user", USER_KEY, NULL, 0, N_("for this user (the default)"), 0},
	{"sys-prefix", SYS_PREFIX_KEY, NULL, 0, N_("for the environment of the Python"), 0},
	{"prefix", PREFIX_KEY, "DIR", 0, N_("below this folder, in share/jupyter/kernels"), 0},
	{"python", PYTHON_KEY, "PYTHON", 0, N_("the kernel's Python (default: python3)"), 0},
	{"output", 'o', "DIR", 0, N_("the folder of each run"), 0},
	{0},
};

#define ABOUT                                                                                      \
	N_("Writes a kernel for Jupyter that records: the kernel of PYTHON under stageprof run. "  \
	   "A notebook picks it by its name, stageprof; the other kernels do not change.")
static const char doc[] = ABOUT;

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct kernel_options *o = state->input;

	switch (key) {
	case USER_KEY:
	case SYS_PREFIX_KEY:
	case PREFIX_KEY:
		if (o->place && (int)o->place != key)
			argp_error(state, "--user, --sys-prefix and --prefix exclude each other");
		o->place = (enum kernel_key)key;
		o->prefix = arg;
		return 0;
	case PYTHON_KEY:
		o->python = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0 && strcmp(arg, "install") == 0)
			return 0;
		argp_error(state, "unknown word %s; give: stageprof kernel install", arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "install is missing; give: stageprof kernel install");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Jupyter's own order of places for this user. Returns 0, or -ENAMETOOLONG. */
static int user_folder(char *ret, size_t bytes)
{
	const char *jupyter = getenv("JUPYTER_DATA_DIR"), *data = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");
	const struct passwd *user = home && *home ? NULL : getpwuid(getuid());
	int n;

	if (user)
		home = user->pw_dir;
	if (jupyter && *jupyter)
		n = snprintf(ret, bytes, "%s/kernels", jupyter);
	else if (data && *data)
		n = snprintf(ret, bytes, "%s/jupyter/kernels", data);
	else
		n = snprintf(ret, bytes, "%s/.local/share/jupyter/kernels", home ? home : "");
	return n < (int)bytes ? 0 : -ENAMETOOLONG;
}

static int kernel_folder(char *ret, size_t bytes, const struct kernel_options *o,
			 const struct sp_kernel_python *python)
{
	char kernels[SP_PATH_BYTES];
	int n;

	if (o->place == SYS_PREFIX_KEY || o->place == PREFIX_KEY) {
		n = snprintf(kernels, sizeof(kernels), "%s/share/jupyter/kernels",
			     o->place == PREFIX_KEY ? o->prefix : python->prefix);
		if (n >= (int)sizeof(kernels))
			return -ENAMETOOLONG;
	} else if (user_folder(kernels, sizeof(kernels)) < 0) {
		return -ENAMETOOLONG;
	}
	return snprintf(ret, bytes, "%s/" NAME, kernels) < (int)bytes ? 0 : -ENAMETOOLONG;
}

/* As mkdir -p. */
static int make_folders(const char *path)
{
	char part[SP_PATH_BYTES];

	for (const char *end = path + 1; *end; end++) {
		if (end[1] && end[1] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)(end + 1 - path), path);
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static void put_word(struct sp_json *j, const char *key, const char *word)
{
	sp_json_string(j, key, word, strlen(word));
}

/* Each run of the kernel has a name of its own where DIR exists already. */
static void put_output(struct sp_json *j, const char *output)
{
	char folder[SP_PATH_BYTES] = "", word[3 * SP_PATH_BYTES];

	if (output[0] != '/' && !getcwd(folder, sizeof(folder)))
		folder[0] = '\0';
	snprintf(word, sizeof(word), "--output=%s%s%s", folder, *folder ? "/" : "", output);
	put_word(j, NULL, word);
}

static void write_specification(FILE *file, const struct kernel_options *o, const char *stageprof,
				const struct sp_kernel_python *python)
{
	static const char *const rest[] = {"-m", "ipykernel_launcher", "-f", "{connection_file}"};
	struct sp_json j = {.file = file};
	char shown[64];

	snprintf(shown, sizeof(shown), "Python %s (" NAME ")", python->version);
	sp_json_open(&j, NULL, '{');
	sp_json_open(&j, "argv", '[');
	put_word(&j, NULL, stageprof);
	put_word(&j, NULL, "run");
	if (o->output)
		put_output(&j, o->output);
	put_word(&j, NULL, "--");
	put_word(&j, NULL, python->path);
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		put_word(&j, NULL, rest[i]);
	sp_json_close(&j, ']');
	put_word(&j, "display_name", shown);
	put_word(&j, "language", "python");
	sp_json_open(&j, "metadata", '{');
	sp_json_bool(&j, "debugger", true);
	sp_json_close(&j, '}');
	sp_json_close(&j, '}');
	fputc('\n', file);
}

/* Writes FOLDER/kernel.json. A reader sees the old file or the whole new one. */
static int write_kernel(const char *folder, const struct kernel_options *o,
			const struct sp_kernel_python *python)
{
	char stageprof[SP_PATH_BYTES], path[SP_PATH_BYTES + 16], made[SP_PATH_BYTES + 16];
	ssize_t n = readlink("/proc/self/exe", stageprof, sizeof(stageprof) - 1);
	int r = make_folders(folder);
	FILE *file;

	if (r < 0 || n <= 0)
		return r < 0 ? r : -ENOENT;
	stageprof[n] = '\0';
	snprintf(path, sizeof(path), "%s/kernel.json", folder);
	snprintf(made, sizeof(made), "%s/kernel.json.new", folder);
	file = fopen(made, "we");
	if (!file)
		return -errno;
	write_specification(file, o, stageprof, python);
	r = ferror(file) ? -EIO : 0;
	if (fclose(file) != 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(made, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(made);
	return r;
}

static const char *default_python(void)
{
	char path[PATH_MAX];

	return sp_program_on_path(path, "python3") == 0 ? "python3" : "python";
}

int sp_command_kernel(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "install", doc, NULL, NULL, NULL};
	static const struct sp_help help = {"stageprof kernel [OPTION...] install", ABOUT, options,
					    NULL, NULL};
	struct kernel_options o = {0};
	struct sp_kernel_python python;
	char folder[SP_PATH_BYTES];
	int r;

	argv[0] = (char *)"stageprof kernel";
	sp_help_answer(&help, argc, argv, false);
	if (argp_parse(&argp, argc, argv, 0, NULL, &o) != 0)
		return SP_STATUS_USAGE;
	if (!o.python)
		o.python = default_python();
	r = sp_kernel_python_ask(&python, o.python);
	if (r < 0) {
		sp_error_print(SP_ERROR_kernel_python, o.python,
			       r == -EINVAL ? N_("it is no Python 3 that works") : strerror(-r),
			       NULL);
		return SP_STATUS_FAILED;
	}
	r = kernel_folder(folder, sizeof(folder), &o, &python);
	if (r == 0)
		r = write_kernel(folder, &o, &python);
	if (r < 0) {
		sp_error_print(SP_ERROR_kernel_folder, r == -ENAMETOOLONG ? "kernel.json" : folder,
			       strerror(-r), NULL);
		return SP_STATUS_FAILED;
	}
	printf(_("wrote %s/kernel.json, the kernel \"Python %s (stageprof)\" of Jupyter\n"), folder,
	       python.version);
	if (!python.has_ipykernel)
		sp_error_print(SP_ERROR_kernel_missing, python.path, N_("it has no ipykernel"),
			       NULL);
	return SP_STATUS_OK;
}
