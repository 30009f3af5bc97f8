/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frameworks that the recorder names (frameworks.def). The coverage of a run has a line
 * "framework\tbound|loaded\tNAME VERSION" for each that a process loaded: bound where the row gives
 * something of it and the names that its steps come from were found, loaded where the report can
 * only name it. "framework\tpartial\tNAME": it gave a part of a step, and not the rest.
 * "framework-names\tfailed\tMODULE": this module lacks names that the recorder needs.
 */
#ifndef STAGEPROF_TRACE_FRAMEWORKS_H
#define STAGEPROF_TRACE_FRAMEWORKS_H

#define SP_FRAMEWORK_GROUP "framework"

enum sp_framework_id {
#define SP_FRAMEWORK(name, title, module, object, instead, gives) SP_FRAMEWORK_##name,
#include "trace/frameworks.def"
#undef SP_FRAMEWORK
	SP_FRAMEWORKS
};

/* The parts that the recorder gets from a framework. */
enum sp_framework_gives {
	SP_GIVES_STEPS = 1,
	SP_GIVES_WAITS = 2,  /* for batches of its loader */
	SP_GIVES_PHASES = 4, /* forward, backward, optimizer */
	SP_GIVES_TRANSFERS = 8,
	SP_GIVES_COMPILATION = 16,
	SP_GIVES_CHECKPOINTS = 32,
	SP_GIVES_MODULES = 64,
	SP_GIVES_OPERATORS = 128,
	SP_GIVES_ALL = 255,
	SP_TRAINS_NOTHING = 256,   /* it trains nothing by itself */
	SP_GIVES_SOME_STEPS = 512, /* of some loops: a run without steps may train all the same */
};

#endif
