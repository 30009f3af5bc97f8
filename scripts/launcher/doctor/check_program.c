/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the preload reach COMMAND, and does a child of its kind record?
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "preload/settings/config.h"
#include "analyzer/text/version.h"
#include "scripts/launcher/doctor/doctor_context.h"
#include "scripts/launcher/library.h"
#include "scripts/launcher/doctor/probe.h"

static void check_library(const char *path, struct sp_check_result *result)
{
	struct sp_library_file library;

	sp_library_look(&library, path);
	if (strpbrk(path, " :"))
		sp_check_set(result, SP_CHECK_FAIL,
			     "move it, or name a symbolic link to it by --library=FILE",
			     "%s: LD_PRELOAD cannot contain a path with a space or a colon", path);
	else if (!library.is_of_this_machine)
		sp_check_set(result, SP_CHECK_FAIL,
			     "install stageprof for this processor, or name its library by "
			     "--library=FILE",
			     "%s: it is built for another processor", path);
	else if (strcmp(library.version, sp_version_text()) != 0)
		sp_check_set(result, SP_CHECK_WARN, "install both from one package",
			     "%s: it is of stageprof %s, and this program is %s", path,
			     library.version[0] ? library.version : "?", sp_version_text());
	else
		sp_check_set(result, SP_CHECK_OK, NULL, "%s, version %s", path, library.version);
}

void sp_check_parts(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	if (context->has_library != 0)
		sp_check_set(result, SP_CHECK_FAIL,
			     "install stageprof, or name its library by --library=FILE",
			     "libstageprof.so is neither beside this program nor in its prefix");
	else if (context->has_report != 0)
		sp_check_set(result, SP_CHECK_WARN, "install stageprof-report beside stageprof",
			     "%s; stageprof-report is missing", context->preload);
	else
		check_library(context->preload, result);
}

void sp_check_settings(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	(void)context;
	if (sp_config_is(sp_config.enable, "0"))
		sp_check_set(result, SP_CHECK_FAIL, "unset it",
			     "STAGEPROF_ENABLE is 0: nothing is recorded");
	else if (sp_config.unknown)
		sp_check_set(result, SP_CHECK_WARN, sp_config.unknown_fix, "%.*s is not a setting",
			     (int)strcspn(sp_config.unknown, "="), sp_config.unknown);
	else if (sp_config.unfit)
		sp_check_set(result, SP_CHECK_FAIL, "unset it, or see stageprof run --help",
			     "%s: it takes %s", sp_config.unfit, sp_config.unfit_form);
	else if (sp_config.ranks && *sp_config.ranks)
		sp_check_set(result, SP_CHECK_OK, NULL, "only ranks %s are recorded",
			     sp_config.ranks);
	else
		sp_check_set(result, SP_CHECK_OK, NULL, "no setting prevents recording");
}

void sp_check_program(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	const struct sp_program *g = &context->program;
	const char *why = sp_program_why_not(g);
	const char *via = g->via[0] ? _(", which runs ") : "";

	if (context->lookup != 0)
		sp_check_set(result, SP_CHECK_FAIL, "check its spelling, or give its path",
			     "%s: %s", context->word, sp_translate_errno(-context->lookup));
	else if (why)
		sp_check_set(result, SP_CHECK_FAIL, sp_program_fix(g), "%s%s%s: %s", g->via, via,
			     g->path, _(why));
	else if (g->reach == SP_REACH_UNKNOWN)
		sp_check_set(result, SP_CHECK_WARN, "name the program that it starts",
			     "%s is not a readable ELF program", g->path);
	else if (g->is_dormant && !g->is_python)
		sp_check_set(result, SP_CHECK_WARN,
			     "name the trainer's own command, or set STAGEPROF_CHILDREN=all",
			     "%s%s%s is a tool that records nothing itself; the programs that it "
			     "starts are recorded, and were not checked",
			     g->via, via, g->path);
	else
		sp_check_set(result, SP_CHECK_OK, NULL, "%s%s%s, by %s", g->via, via, g->path,
			     g->loader);
}

static bool is_out_of_reach(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	if (context->has_library == 0 && context->lookup == 0 &&
	    context->program.reach == SP_REACH_LOADED)
		return false;
	sp_check_set(result, SP_CHECK_SKIP, NULL, "not tried because a check above failed");
	return true;
}

void sp_check_loading(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	char message[512];

	if (is_out_of_reach(context, result))
		return;
	if (sp_probe_loads(context, message))
		sp_check_set(result, SP_CHECK_OK, NULL, "the dynamic linker loads the library");
	else
		sp_check_set(result, SP_CHECK_FAIL,
			     "use a libstageprof.so built for this libc: build it in the container "
			     "that runs the training",
			     "the dynamic linker refuses the library: %s", message);
}

/* The index of the CSV column of this name; -1 where there is none. */
static int column_of(const char *head, const char *name)
{
	size_t bytes = strlen(name);

	for (int column = 0; *head && *head != '\n'; column++) {
		size_t field = strcspn(head, ",\n");

		if (field == bytes && strncmp(head, name, bytes) == 0)
			return column;
		head += field + (head[field] == ',');
	}
	return -1;
}

/* The reads of the probe's data in the report. The name is the first field of its row. */
static unsigned long reported_reads(const struct sp_doctor_context *context)
{
	const char *at = context->files ? strstr(context->files, "/data\",") : NULL;
	int column = context->files ? column_of(context->files, "reads") : -1;

	for (; at && column > 0; column--)
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
	return at && column == 0 ? strtoul(at, NULL, 10) : 0;
}

void sp_check_recording(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	unsigned long reads = reported_reads(context);
	bool python = context->program.is_python;

	if (is_out_of_reach(context, result))
		return;
	if (!context->is_probed)
		sp_check_set(result, SP_CHECK_SKIP, "set TMPDIR to a writable folder",
			     "no folder could be made for the child");
	else if (WIFSIGNALED(context->probe_status) && WTERMSIG(context->probe_status) == SIGALRM)
		sp_check_set(result, SP_CHECK_FAIL, "find out what its imports wait for",
			     "the child did not end within 60 s");
	else if (context->probe_status != 0)
		sp_check_set(result, SP_CHECK_FAIL, "check that the program runs without stageprof",
			     "the child failed (%s %d)",
			     WIFSIGNALED(context->probe_status) ? _("signal") : _("status"),
			     WIFSIGNALED(context->probe_status)
				     ? WTERMSIG(context->probe_status)
				     : WEXITSTATUS(context->probe_status));
	else if (!context->files)
		sp_check_set(result, SP_CHECK_FAIL,
			     "see the checks above and the checks output and limits",
			     "the child left no readable trace");
	else if (python ? reads != SP_PROBE_READS : reads == 0)
		sp_check_set(result, SP_CHECK_FAIL, "report this as a bug, with this text",
			     "%lu of %d reads are in the trace", reads, SP_PROBE_READS);
	else
		sp_check_set(result, SP_CHECK_OK, NULL,
			     python ? _("all %lu reads of a Python child are in its trace")
				    : _("%lu reads of a child (cat) are in its trace"),
			     reads);
}

/* Checks for libraries that /etc/ld.so.preload or LD_PRELOAD adds. */
void sp_check_preloads(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	const char *ours = getenv("LD_PRELOAD");
	bool global = access("/etc/ld.so.preload", F_OK) == 0;

	(void)context;
	if (!(ours && *ours) && !global)
		sp_check_set(result, SP_CHECK_OK, NULL, "none");
	else
		sp_check_set(result, SP_CHECK_WARN,
			     "where numbers look odd, try without them: another library may make "
			     "calls of its own",
			     "%s%s%s; they stay preloaded", ours ? ours : "",
			     ours && global ? _(" and ") : "", global ? "/etc/ld.so.preload" : "");
}
