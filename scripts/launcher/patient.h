/*
 * What doctor looks at: the command, this machine, and a real child that it ran.
 */
#ifndef STAGEPROF_LAUNCHER_PATIENT_H
#define STAGEPROF_LAUNCHER_PATIENT_H

#include <stdbool.h>

#include "scripts/launcher/finding.h"
#include "scripts/launcher/install.h"
#include "scripts/launcher/program.h"

#define SP_PROBE_READS 100 /* of the file that the child reads, each of SP_PROBE_BYTES */
#define SP_PROBE_BYTES 1000

struct sp_patient {
	const char *word; /* first word of COMMAND */
	int lookup;	  /* of sp_program_look() */
	struct sp_program program;
	int has_library, has_report; /* 0, or what install.h says */
	char preload[SP_PATH_BYTES], report[SP_PATH_BYTES];
	char folder[SP_PATH_BYTES]; /* of our own, removed at the end; "" where none can be had */
	bool is_probed;		    /* the child was run; else the rest is empty */
	int probe_status;	    /* as of waitpid */
	char *facts;	       /* "NAME\tVALUE\n"…, as probe.py told; NULL where it did not */
	char *files, *summary; /* stageprof-report's answers on the child; NULL: none */
	char *scopes;	       /* LD_DEBUG=scopes of the child; NULL: none */
};

/* The value of a fact: up to its line's end, into 256 bytes. False where the child did not tell it.
 */
bool sp_patient_fact(const struct sp_patient *p, const char *name, char ret[256]);

#define SP_CHECK(name, about)                                                                      \
	void sp_check_##name(const struct sp_patient *p, struct sp_finding *f);
#include "scripts/launcher/checks.def"
#undef SP_CHECK

#endif
