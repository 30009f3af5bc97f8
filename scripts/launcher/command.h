/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of `stageprof`. Each gets its arguments from its own name on and returns the exit
 * status; `run` does not return where COMMAND dies by a signal: stageprof then dies by the same
 * signal.
 */
#ifndef STAGEPROF_LAUNCHER_COMMAND_H
#define STAGEPROF_LAUNCHER_COMMAND_H

/* As in env(1) and timeout(1), so that a status of COMMAND differs from a status of stageprof. */
enum sp_status {
	SP_STATUS_OK = 0,
	SP_STATUS_FAILED = 1, /* doctor: a check failed; report: could not */
	SP_STATUS_USAGE = 2,
	SP_STATUS_HUNG = 124, /* run: --watch ended a COMMAND that stood still */
	SP_STATUS_OURS = 125, /* run: could not be tried */
	SP_STATUS_NOT_EXECUTABLE = 126,
	SP_STATUS_NOT_FOUND = 127,
};

#define SP_COMMAND(name, arguments, help) int sp_command_##name(int argc, char **argv);
#include "scripts/launcher/commands.def"
#undef SP_COMMAND

#endif
