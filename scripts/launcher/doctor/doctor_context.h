/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subjects of doctor: the command, this machine, and a real child that it ran.
 */
#ifndef STAGEPROF_LAUNCHER_DOCTOR_CONTEXT_H
#define STAGEPROF_LAUNCHER_DOCTOR_CONTEXT_H

#include <stdbool.h>

#include "scripts/launcher/doctor/check_result.h"
#include "scripts/launcher/install.h"
#include "scripts/launcher/program.h"

#define SP_PROBE_READS 100 /* reads of the child's file, each of SP_PROBE_BYTES */
#define SP_PROBE_BYTES 1000

struct sp_doctor_context {
	const char *word; /* the first word of COMMAND */
	char **command;	  /* its words, up to NULL; NULL: none was given */
	int lookup;	  /* of sp_program_look() */
	struct sp_program program;
	int has_library, has_report; /* 0, or the error of install.h */
	char preload[SP_PATH_BYTES], report[SP_PATH_BYTES];
	char folder[SP_PATH_BYTES]; /* a temporary folder, removed at the end; "" where none could
				       be made */
	bool is_probed;		    /* the child was run; else the fields below are empty */
	int probe_status;	    /* as of waitpid */
	char *properties;      /* "NAME\tVALUE\n"…, as probe.py reported them; NULL: no report */
	char *files, *summary; /* stageprof-report's output on the child's trace; NULL: none */
	char *scopes;	       /* LD_DEBUG=scopes of the child; NULL: none */
};

/* Copies the value of a property, up to the end of its line. False where the child did not
 * report it. */
bool sp_doctor_context_property(const struct sp_doctor_context *context, const char *name,
				char ret[256]);

#define SP_CHECK(name, about)                                                                      \
	void sp_check_##name(const struct sp_doctor_context *context,                              \
			     struct sp_check_result *result);
#include "scripts/launcher/doctor/checks.def"
#undef SP_CHECK

#endif
