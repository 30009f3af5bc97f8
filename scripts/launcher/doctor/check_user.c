/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Will processes of another user record? Entrypoints of containers begin as root and drop their
 * rights; the preload goes along where these programs keep the environment.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "preload/settings/run_identity.h"
#include "scripts/launcher/doctor/doctor_context.h"

#define SCRIPT_LINES_MAX 10000u
#define SCRIPT_LINE_BYTES 4096

/* Programs that change the user, and whether they keep LD_PRELOAD. */
static const struct changer {
	const char *name;
	bool keeps_preload;
} changers[] = {
	{"setpriv", true},	     {"gosu", true},  {"su-exec", true}, {"chpst", true},
	{"setuidgid", true},	     {"capsh", true}, {"runuser", true}, {"su", true},
	{"start-stop-daemon", true}, {"sudo", false}, {"doas", false},
};

static const struct changer *changer_of(const char *word)
{
	const char *slash = strrchr(word, '/');

	for (size_t i = 0; i < sizeof(changers) / sizeof(changers[0]); i++)
		if (strcmp(slash ? slash + 1 : word, changers[i].name) == 0)
			return &changers[i];
	return NULL;
}

/* The first changer that a script names outside of a comment. */
static const struct changer *changer_in(const char *script)
{
	FILE *file = fopen(script, "re");
	const struct changer *found = NULL;
	char line[SCRIPT_LINE_BYTES], *save;

	for (unsigned i = 0; file && !found && i < SCRIPT_LINES_MAX; i++) {
		if (!fgets(line, sizeof(line), file))
			break;
		line[strcspn(line, "#")] = '\0';
		for (char *word = strtok_r(line, " \t\n;&|()`\"'", &save); word && !found;
		     word = strtok_r(NULL, " \t\n;&|()`\"'", &save))
			found = changer_of(word);
	}
	if (file)
		fclose(file);
	return found;
}

static const struct changer *changer_find(const struct sp_doctor_context *context)
{
	const struct changer *found = changer_of(context->word);

	return found || !context->program.via[0] || context->program.is_python
		       ? found
		       : changer_in(context->program.via);
}

/* The first part of the path that users without rights of their own may not use; false: none. */
static bool closed_find(const char *path, mode_t folders_need, mode_t last_needs,
			char ret[PATH_MAX])
{
	struct stat st;

	for (const char *at = path; at; at = strchr(at + 1, '/')) {
		const char *next = strchr(at + 1, '/');
		size_t bytes = next ? (size_t)(next - path) : strlen(path);
		mode_t needs = next ? folders_need : last_needs;

		snprintf(ret, PATH_MAX, "%.*s", (int)bytes, path);
		if (stat(ret, &st) == 0 && (st.st_mode & needs) != needs)
			return true;
	}
	return false;
}

static void judge_change(const struct sp_doctor_context *context, const struct changer *changer,
			 struct sp_check_result *result)
{
	char folder[SP_RUN_PATH_BYTES], closed[PATH_MAX];

	strcpy(folder, sp_run.base);
	strrchr(folder, '/')[folder == strrchr(folder, '/')] = '\0';
	if (context->has_library == 0 && closed_find(context->preload, S_IXOTH, S_IROTH, closed))
		sp_check_set(result, SP_CHECK_WARN, "install stageprof where all users may read it",
			     "%s changes the user; another user may not read the library, because "
			     "of %s",
			     changer->name, closed);
	else if (closed_find(folder, S_IXOTH, S_IWOTH | S_IXOTH, closed))
		sp_check_set(result, SP_CHECK_WARN,
			     "set STAGEPROF_OUTPUT to a path in a folder that the new user may "
			     "write to",
			     "%s changes the user; another user may not make its run, because of "
			     "%s",
			     changer->name, closed);
	else
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "%s changes the user: processes of each user have a folder of their "
			     "own (run.zst, run-2.zst); a report shows all that it may read",
			     changer->name);
}

/* The name that the next run gets where another user's run has the first one. */
static void judge_name(struct sp_check_result *result)
{
	char next[SP_RUN_PATH_BYTES];
	struct stat st;
	unsigned number = 1;

	if (stat(sp_run.base, &st) < 0 || st.st_uid == geteuid()) {
		sp_check_set(result, SP_CHECK_OK, NULL, "the command does not change it");
		return;
	}
	do
		sp_run_candidate(next, number);
	while (access(next, F_OK) == 0 && ++number < SP_RUN_NUMBERS);
	sp_check_set(result, SP_CHECK_OK, NULL, "%s is of user %u: the next run will be %s",
		     sp_run.base, (unsigned)st.st_uid, next);
}

void sp_check_user(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	const struct changer *changer = changer_find(context);

	if (sp_run_init() < 0)
		sp_check_set(result, SP_CHECK_SKIP, NULL, "the check output has failed");
	else if (changer && !changer->keeps_preload)
		sp_check_set(result, SP_CHECK_WARN,
			     "let it start stageprof run: sudo -E stageprof run -- COMMAND",
			     "%s changes the user and drops LD_PRELOAD: nothing that it starts is "
			     "recorded",
			     changer->name);
	else if (changer)
		judge_change(context, changer, result);
	else
		judge_name(result);
}
