/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frameworks that the processes of a run loaded, from its coverage. Runs of recorders before
 * these lines name none.
 */
#ifndef STAGEPROF_ANALYZER_RUN_FRAMEWORKS_H
#define STAGEPROF_ANALYZER_RUN_FRAMEWORKS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/frameworks.h"

struct sp_metadata;

#define SP_FRAMEWORK_VERSION_BYTES 64u

struct sp_framework {
	bool is_loaded, is_bound;
	bool is_partial; /* parts of its steps were recorded, and not the rest */
	char version[SP_FRAMEWORK_VERSION_BYTES]; /* escaped; "" where it is not known */
};

struct sp_frameworks {
	struct sp_framework of[SP_FRAMEWORKS];
};

void sp_frameworks_read(const struct sp_metadata *metadata, struct sp_frameworks *ret);

/* Bits of enum sp_framework_gives: the parts of it that this run has. */
unsigned sp_framework_gives(const struct sp_frameworks *frameworks, enum sp_framework_id id);

#define SP_FRAMEWORK_TEXT_BYTES 128u

/* "PyTorch 2.13.0", or the title alone */
void sp_framework_text(const struct sp_frameworks *frameworks, enum sp_framework_id id,
		       char ret[SP_FRAMEWORK_TEXT_BYTES]);

/* True where the steps of a loaded framework are recorded, so that a run without them has none. */
bool sp_frameworks_give_steps(const struct sp_frameworks *frameworks);

/* True where a framework gave parts of steps, whatever else is loaded. */
bool sp_frameworks_are_partial(const struct sp_frameworks *frameworks);

/* "JAX 0.10.2, Keras 3.12.0": those that train without recorded steps; "" where there is none.
 * Returns their number. */
unsigned sp_frameworks_unseen_text(const struct sp_frameworks *frameworks, char *ret,
				   size_t ret_bytes);

#endif
