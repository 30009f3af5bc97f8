/*
 * Does the preload reach COMMAND, and does a child of its kind record?
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/translate.h"
#include "preload/config.h"
#include "scripts/launcher/patient.h"
#include "scripts/launcher/probe.h"

void sp_check_parts(const struct sp_patient *p, struct sp_finding *f)
{
	if (p->has_library != 0)
		sp_find(f, SP_VERDICT_FAIL,
			"install stageprof, or name its library by --library=FILE",
			"libstageprof.so is not beside this program, nor in its prefix");
	else if (p->has_report != 0)
		sp_find(f, SP_VERDICT_WARN, "install stageprof-report beside stageprof",
			"%s; stageprof-report is missing", p->preload);
	else
		sp_find(f, SP_VERDICT_OK, NULL, "%s, version %s", p->preload, STAGEPROF_VERSION);
}

void sp_check_settings(const struct sp_patient *p, struct sp_finding *f)
{
	(void)p;
	if (sp_config_is(sp_config.enable, "0"))
		sp_find(f, SP_VERDICT_FAIL, "unset it", "STAGEPROF_ENABLE is 0: nothing records");
	else if (sp_config.unknown)
		sp_find(f, SP_VERDICT_WARN, "see stageprof run --help for the names there are",
			"%.*s is no setting", (int)strcspn(sp_config.unknown, "="),
			sp_config.unknown);
	else if (sp_config.unfit)
		sp_find(f, SP_VERDICT_FAIL, "unset it, or see stageprof run --help", "%s: it takes %s",
			sp_config.unfit, sp_config.unfit_form);
	else if (sp_config.ranks && *sp_config.ranks)
		sp_find(f, SP_VERDICT_OK, NULL, "only ranks %s record", sp_config.ranks);
	else
		sp_find(f, SP_VERDICT_OK, NULL, "none that keeps anything from recording");
}

void sp_check_program(const struct sp_patient *p, struct sp_finding *f)
{
	const struct sp_program *g = &p->program;
	const char *why = sp_program_why_not(g);
	const char *via = g->via[0] ? _(", which runs ") : "";

	if (p->lookup != 0)
		sp_find(f, SP_VERDICT_FAIL, "check its spelling, or give its path", "%s: %s",
			p->word, sp_translate_errno(-p->lookup));
	else if (why)
		sp_find(f, SP_VERDICT_FAIL, sp_program_fix(g), "%s%s%s: %s", g->via, via, g->path,
			_(why));
	else if (g->reach == SP_REACH_UNKNOWN)
		sp_find(f, SP_VERDICT_WARN, "give the program that it starts",
			"%s is no ELF program that can be read", g->path);
	else if (g->is_dormant && !g->is_python)
		sp_find(f, SP_VERDICT_WARN,
			"give the trainer's own command, or set STAGEPROF_CHILDREN=all",
			"%s%s%s passes the run on and records nothing itself; what it starts was "
			"not looked at",
			g->via, via, g->path);
	else
		sp_find(f, SP_VERDICT_OK, NULL, "%s%s%s, by %s", g->via, via, g->path, g->loader);
}

static bool is_out_of_reach(const struct sp_patient *p, struct sp_finding *f)
{
	if (p->has_library == 0 && p->lookup == 0 && p->program.reach == SP_REACH_LOADED)
		return false;
	sp_find(f, SP_VERDICT_SKIP, NULL, "not tried: see above");
	return true;
}

void sp_check_loading(const struct sp_patient *p, struct sp_finding *f)
{
	char said[512];

	if (is_out_of_reach(p, f))
		return;
	if (sp_probe_loads(p, said))
		sp_find(f, SP_VERDICT_OK, NULL, "taken");
	else
		sp_find(f, SP_VERDICT_FAIL,
			"use a libstageprof.so built for this libc: build it in the container that "
			"trains",
			"not taken: %s", said);
}

/* How many fields of a line of CSV stand before the one of this name; -1 where there is none. */
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

/* Reads of the probe's data, as the report has them. The name is the first field of its row. */
static unsigned long reported_reads(const struct sp_patient *p)
{
	const char *at = p->files ? strstr(p->files, "/data\",") : NULL;
	int column = p->files ? column_of(p->files, "reads") : -1;

	for (; at && column > 0; column--)
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
	return at && column == 0 ? strtoul(at, NULL, 10) : 0;
}

void sp_check_recording(const struct sp_patient *p, struct sp_finding *f)
{
	unsigned long reads = reported_reads(p);
	bool python = p->program.is_python;

	if (is_out_of_reach(p, f))
		return;
	if (!p->is_probed)
		sp_find(f, SP_VERDICT_SKIP, "set TMPDIR to a folder that can be written to",
			"no folder for the child");
	else if (WIFSIGNALED(p->probe_status) && WTERMSIG(p->probe_status) == SIGALRM)
		sp_find(f, SP_VERDICT_FAIL, "see what its imports wait for",
			"the child did not end within 60 s");
	else if (p->probe_status != 0)
		sp_find(f, SP_VERDICT_FAIL, "see whether the program runs without stageprof",
			"the child failed (%s %d)",
			WIFSIGNALED(p->probe_status) ? _("signal") : _("status"),
			WIFSIGNALED(p->probe_status) ? WTERMSIG(p->probe_status)
						     : WEXITSTATUS(p->probe_status));
	else if (!p->files)
		sp_find(f, SP_VERDICT_FAIL,
			"see the checks above and those of the output and the limits",
			"the child left no trace that can be read");
	else if (python ? reads != SP_PROBE_READS : reads == 0)
		sp_find(f, SP_VERDICT_FAIL, "report it, with this text",
			"%lu of %d reads are in the trace", reads, SP_PROBE_READS);
	else
		sp_find(f, SP_VERDICT_OK, NULL,
			python ? _("all %lu reads of a Python child are in its trace")
			       : _("%lu reads of a child (cat) are in its trace"),
			reads);
}

/* What /etc/ld.so.preload or the user's LD_PRELOAD puts between the program and us. */
void sp_check_preloads(const struct sp_patient *p, struct sp_finding *f)
{
	const char *ours = getenv("LD_PRELOAD");
	bool global = access("/etc/ld.so.preload", F_OK) == 0;

	(void)p;
	if (!(ours && *ours) && !global)
		sp_find(f, SP_VERDICT_OK, NULL, "none");
	else
		sp_find(f, SP_VERDICT_WARN,
			"where numbers look odd, try without them: a library behind ours may make "
			"calls of its own",
			"%s%s%s; they stay", ours ? ours : "", ours && global ? _(" and ") : "",
			global ? "/etc/ld.so.preload" : "");
}
