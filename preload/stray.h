/*
 * Programs that are started with an environment that leaves us out: neither they nor what they start is observed,
 * which the run tells of each by its name. One that would record nothing and starts no others is no loss.
 */
#ifndef STAGEPROF_PRELOAD_STRAY_H
#define STAGEPROF_PRELOAD_STRAY_H

#include <stdint.h>

#define SP_STRAYS_MAX 8u /* names of an image; the last stands for all others */

struct sp_stray {
	uint32_t state; /* of stray.c; 0: free */
	char name[28];	/* cut where it is longer */
};

struct sp_strays {
	uint32_t untold; /* some of them are */
	struct sp_stray of[SP_STRAYS_MAX];
};

/*
 * Before an exec or spawn of `path` with this environment. Both are the host's, and may be what execve(2) refuses.
 * Safe in signal handlers and vfork children; no memory but the stack (under 1 KiB).
 */
void sp_stray_notice(const char *path, char *const envp[]);

/* Notes into the run what was not told yet: each name once an image. */
struct sp_thread;
void sp_stray_tell(struct sp_thread *t);

#endif
