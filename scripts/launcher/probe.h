/*
 * Doctor's real child. COMMAND itself is not run: it may train for a week. Where it is Python its
 * interpreter runs probe.py, else cat(1) stands for it.
 */
#ifndef STAGEPROF_LAUNCHER_PROBE_H
#define STAGEPROF_LAUNCHER_PROBE_H

#include "scripts/launcher/patient.h"

/* Makes p->folder, runs the child there under the library, and has its trace reported. What could
 * not be done is left empty. The child gets 60 s. */
void sp_probe_run(struct sp_patient *p);

/* Removes the folder, frees the texts. */
void sp_probe_finish(struct sp_patient *p);

/* True where the dynamic linker of the program at `path` takes the library; `said` gets its
 * complaint. For programs of SP_REACH_LOADED only: any other would be run. */
bool sp_probe_loads(const struct sp_patient *p, char said[512]);

#endif
