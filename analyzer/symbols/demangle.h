/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles names of C++ functions, such as kernels, with libiberty. The demangler bounds its
 * depth, and this module bounds its output, because a short name may stand for an endless one.
 */
#ifndef STAGEPROF_ANALYZER_DEMANGLE_H
#define STAGEPROF_ANALYZER_DEMANGLE_H

#include <stddef.h>

#define SP_DEMANGLED_BYTES 8192u /* longer names stay mangled */

/* `name` is NUL-terminated. Returns ret with its length in *bytes, or name with *bytes
 * unchanged. Thread-safe. */
const char *sp_demangle(const char *name, size_t *bytes, char ret[SP_DEMANGLED_BYTES]);

/*
 * A short name for people, without function and template arguments and without clone suffixes:
 * "at::native::add". Other names lose only the text after their first dot. Returns ret's bytes,
 * without the NUL; a longer name is cut.
 */
#define SP_BRIEF_BYTES 256u
size_t sp_demangle_brief(const char *name, char ret[SP_BRIEF_BYTES]);

#endif
