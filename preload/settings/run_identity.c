/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/settings/run_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/sys/clock.h"
#include "preload/settings/config.h"
#include "preload/sys/paths.h"
#include "preload/sys/sys.h"

#define RUN_VARIABLE "STAGEPROF_RUN"
#define RUN_DEFAULT "run.zst"
#define BASE_AT 100u /* in STAGEPROF_RUN */

struct sp_run_identity sp_run;

static void random_fill(uint64_t ret[2])
{
	if (SP_SYS3(SYS_getrandom, ret, 2 * sizeof(*ret), 1 /* GRND_NONBLOCK */) ==
	    2 * sizeof(*ret))
		return;
	/* The kernel put 16 random bytes on the stack of every program;
	 * a fork would repeat them. */
	memcpy(ret, (void *)getauxval(AT_RANDOM), 2 * sizeof(*ret));
	ret[0] ^= sp_clock_ns(CLOCK_REALTIME);
	ret[1] ^= (uint64_t)SP_SYS1(SYS_getpid, 0) << 32;
}

/*
 * Variables of launchers: torchrun, Paddle's launch, Slurm, Open MPI, MPICH and its kin. The
 * three variables of one launcher belong together, because a one-task job under Slurm may hold
 * torchrun's ranks.
 */
static const struct launcher {
	const char *rank, *local_rank, *world_size;
} launchers[] = {
	{"RANK", "LOCAL_RANK", "WORLD_SIZE"},
	{"PADDLE_TRAINER_ID", "PADDLE_RANK_IN_NODE", "PADDLE_TRAINERS_NUM"},
	{"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
};

static const struct launcher *launcher_find(void)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (getenv(launchers[i].rank))
			return &launchers[i];
	return NULL;
}

const char *sp_run_rank(void)
{
	const struct launcher *launcher = launcher_find();

	return launcher ? getenv(launcher->rank) : "0";
}

/* The number plus `more`; 0 if the variable is not set or holds no number. */
static uint32_t number_of(const char *variable, uint32_t more)
{
	const char *text = getenv(variable);
	char *end;
	long n = text ? strtol(text, &end, 10) : 0;

	return text && end != text && !*end && n >= 0 && n < INT32_MAX ? (uint32_t)n + more : 0;
}

struct sp_run_ranks sp_run_ranks(void)
{
	const struct launcher *launcher = launcher_find();

	if (!launcher)
		return (struct sp_run_ranks){0, 0, 0};
	return (struct sp_run_ranks){number_of(launcher->rank, 1),
				     number_of(launcher->local_rank, 1),
				     number_of(launcher->world_size, 0)};
}

/* Returns the template's rest after %q{VAR}; an unset variable is empty.
 * %q without a brace stays. */
static const char *expand_variable(struct sp_text *to, const char *rest)
{
	char name[128];
	struct sp_text text = sp_text_init(name, sizeof(name));
	const char *value;

	if (*rest != '{') {
		sp_text_add(to, "%q");
		return rest;
	}
	for (rest++; *rest && *rest != '}'; rest++)
		sp_text_add_char(&text, *rest);
	value = getenv(name);
	sp_text_add(to, value ? value : "");
	return *rest ? rest + 1 : rest;
}

/* Other letters after % stay as they are, so that a mistake shows in the name. */
static void expand(struct sp_text *to, const char *template)
{
	struct utsname names;

	while (*template) {
		char c = *template ++;

		if (c != '%' || !*template) {
			sp_text_add_char(to, c);
			continue;
		}
		switch (*template ++) {
		case 'h':
			sp_text_add(to, uname(&names) == 0 ? names.nodename : "host");
			break;
		case 'p':
			sp_text_add_number(to, (uint64_t)SP_SYS1(SYS_getpid, 0), 10);
			break;
		case 'r':
			sp_text_add(to, sp_run_rank());
			break;
		case 'q':
			template = expand_variable(to, template);
			break;
		case '%':
			sp_text_add_char(to, '%');
			break;
		default:
			sp_text_add_char(to, '%');
			sp_text_add_char(to, template[-1]);
			break;
		}
	}
}

static const char *output_setting(void)
{
	return sp_config.output && *sp_config.output ? sp_config.output : RUN_DEFAULT;
}

/* `.`, `..` and `/` are existing folders: the run is made inside such a folder. */
static int names_a_path(const char *name)
{
	const char *last = strrchr(name, '/');

	last = last ? last + 1 : name;
	return !*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

static int base_make(void)
{
	char name[SP_RUN_PATH_BYTES];
	struct sp_text expanded = sp_text_init(name, sizeof(name));
	struct sp_text base = sp_text_init(sp_run.base, sizeof(sp_run.base) - 512);

	expand(&expanded, output_setting());
	for (size_t length = strlen(name); length > 1 && name[length - 1] == '/';)
		name[--length] = 0;
	if (name[0] != '/') {
		char cwd[SP_RUN_PATH_BYTES];
		long got = SP_SYS2(SYS_getcwd, cwd, sizeof(cwd));

		if (got < 0 || cwd[0] != '/')
			return got < 0 ? (int)got : -ENOENT;
		sp_text_add(&base, cwd);
		sp_text_add(&base, "/");
	}
	sp_text_add(&base, name);
	if (names_a_path(name))
		sp_text_add(&base, "/" RUN_DEFAULT);
	return base.full || expanded.full ? -ENAMETOOLONG : 0;
}

/* 16 digits. */
static int hex_read(const char *text, uint64_t *ret)
{
	*ret = 0;
	for (int i = 0; i < 16; i++) {
		char c = text[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (digit < 0)
			return -1;
		*ret = *ret << 4 | (uint64_t)digit;
	}
	return 0;
}

/* A child whose STAGEPROF_OUTPUT differs from its parent's begins a run of its own. */
static uint64_t output_hash(void)
{
	return XXH64(output_setting(), strlen(output_setting()), 0);
}

/* TOKEN(32 hex) ':' KEY(32 hex) ':' OUTPUT-HASH(16 hex) ':' PID(16 hex) ':' BASE. Returns 0 if the
 * text names a run that this process joins. */
static int run_join(const char *variable)
{
	uint64_t hash;

	if (!variable || strlen(variable) <= BASE_AT ||
	    strlen(variable + BASE_AT) >= sizeof(sp_run.base) - 512 || variable[32] != ':' ||
	    variable[65] != ':' || variable[82] != ':' || variable[99] != ':' ||
	    variable[BASE_AT] != '/' || hex_read(variable, &sp_run.token[0]) < 0 ||
	    hex_read(variable + 16, &sp_run.token[1]) < 0 ||
	    hex_read(variable + 33, &sp_run.key[0]) < 0 ||
	    hex_read(variable + 49, &sp_run.key[1]) < 0 || hex_read(variable + 66, &hash) < 0 ||
	    hash != output_hash() || hex_read(variable + 83, &sp_run.beginner_pid) < 0)
		return -1;
	strcpy(sp_run.base, variable + BASE_AT);
	return 0;
}

/* As for a run that this process began. */
static int run_publish(void)
{
	char variable[SP_RUN_PATH_BYTES + 128];
	struct sp_text text = sp_text_init(variable, sizeof(variable));

	sp_run.beginner_pid = (uint64_t)SP_SYS1(SYS_getpid, 0);
	sp_text_add_hex(&text, sp_run.token[0]);
	sp_text_add_hex(&text, sp_run.token[1]);
	sp_text_add(&text, ":");
	sp_text_add_hex(&text, sp_run.key[0]);
	sp_text_add_hex(&text, sp_run.key[1]);
	sp_text_add(&text, ":");
	sp_text_add_hex(&text, output_hash());
	sp_text_add(&text, ":");
	sp_text_add_hex(&text, sp_run.beginner_pid);
	sp_text_add(&text, ":");
	sp_text_add(&text, sp_run.base);
	return setenv(RUN_VARIABLE, variable, 1) == 0 ? 0 : -ENOMEM;
}

int sp_run_init(void)
{
	int ret;

	if (run_join(sp_config.run) == 0)
		return 0;
	ret = base_make();
	if (ret < 0)
		return ret;
	random_fill(sp_run.token);
	random_fill(sp_run.key);
	return run_publish();
}

int sp_run_init_launched(void)
{
	int ret = sp_run_init();

	if (ret < 0 || sp_run.beginner_pid != (uint64_t)SP_SYS1(SYS_getppid, 0))
		return ret;
	return run_publish();
}

void sp_run_candidate(char *to, unsigned number)
{
	struct sp_text text = sp_text_init(to, SP_RUN_PATH_BYTES);
	size_t length = strlen(sp_run.base);
	int suffix = length > 4 && strcmp(sp_run.base + length - 4, ".zst") == 0;

	if (number == 1) {
		sp_text_add(&text, sp_run.base);
		return;
	}
	for (size_t i = 0; i < length - (suffix ? 4 : 0); i++)
		sp_text_add_char(&text, sp_run.base[i]);
	sp_text_add_char(&text, '-');
	if (number > SP_RUN_NUMBERED)
		sp_text_add_hex(&text, sp_run.token[0]);
	else
		sp_text_add_number(&text, number, 10);
	sp_text_add(&text, suffix ? ".zst" : "");
}

void sp_run_parent(char *to, unsigned up)
{
	strcpy(to, sp_run.base);
	for (up++; up; up--) {
		char *slash = strrchr(to, '/');

		if (!slash || slash == to)
			break;
		*slash = 0;
	}
}

unsigned sp_run_own_folders(void)
{
	const char *at = strchr(output_setting(), '%');
	unsigned folders = 0;

	for (; at && *at; at++)
		folders += *at == '/' && at[1] && at[1] != '/';
	return folders;
}

void sp_run_marker(char *to, const char *directory)
{
	struct sp_text text = sp_text_init(to, SP_RUN_PATH_BYTES);

	sp_text_add(&text, directory);
	sp_text_add(&text, "/0-run-");
	sp_text_add_hex(&text, sp_run.token[0]);
	sp_text_add_hex(&text, sp_run.token[1]);
	sp_text_add(&text, ".zst");
}

int sp_run_find(void)
{
	char directory[SP_RUN_PATH_BYTES], marker[SP_RUN_PATH_BYTES];

	for (unsigned number = 1; number < SP_RUN_NUMBERS; number++) {
		sp_run_candidate(directory, number);
		sp_run_marker(marker, directory);
		if (SP_SYS4(SYS_faccessat, AT_FDCWD, marker, F_OK, 0) == 0) {
			strcpy(sp_run.directory, directory);
			return 0;
		}
	}
	return -ENOENT;
}
