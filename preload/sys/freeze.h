/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of system calls. A host that begins to forbid system calls (seccomp, Landlock) freezes
 * the recorder: from then on the recorder makes no file, grows no file, looks up no descriptor and
 * logs nothing. Forked children inherit the frozen state. Async-signal-safe.
 */
#ifndef STAGEPROF_PRELOAD_FREEZE_H
#define STAGEPROF_PRELOAD_FREEZE_H

void sp_process_freeze(void);
int sp_process_is_frozen(void);

#endif
