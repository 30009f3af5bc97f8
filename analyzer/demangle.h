/*
 * Names of C++ functions as they are written: kernels come as their binary has them. By libiberty's demangler, whose
 * depth is bounded; its output is bounded here, for a short name may stand for an endless one.
 */
#ifndef STAGEPROF_ANALYZER_DEMANGLE_H
#define STAGEPROF_ANALYZER_DEMANGLE_H

#include <stddef.h>

#define SP_DEMANGLED_BYTES 8192u /* what is longer stays as it is */

/* `name` is NUL-terminated. Returns ret with *bytes the length of what it holds, or name with *bytes as it was. Safe
 * in threads. */
const char *sp_demangle(const char *name, size_t *bytes, char ret[SP_DEMANGLED_BYTES]);

/*
 * For people: without arguments, those of templates too, and without what is told of a clone: "at::native::add". A
 * name that is not C++'s stays, but for what follows its first dot. Returns ret's bytes, without the NUL; what does
 * not fit is cut.
 */
#define SP_BRIEF_BYTES 256u
size_t sp_demangle_brief(const char *name, char ret[SP_BRIEF_BYTES]);

#endif
