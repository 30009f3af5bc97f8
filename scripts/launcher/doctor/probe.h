/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doctor's real child. Doctor does not run COMMAND, which may train for a week. If COMMAND is
 * Python, its interpreter runs probe.py; otherwise cat(1) runs in its place.
 */
#ifndef STAGEPROF_LAUNCHER_PROBE_H
#define STAGEPROF_LAUNCHER_PROBE_H

#include "scripts/launcher/doctor/doctor_context.h"

/* Makes context->folder, runs the child there under the library, and has its trace reported. The
 * results of failed steps are left empty. The child gets 60 s. */
void sp_probe_run(struct sp_doctor_context *context);

/* Removes the folder and frees the texts. */
void sp_probe_finish(struct sp_doctor_context *context);

/* True where the dynamic linker of the program at `path` loads the library; `message` gets its
 * error. Only for programs of SP_REACH_LOADED: any other program would run. */
bool sp_probe_loads(const struct sp_doctor_context *context, char message[512]);

#endif
