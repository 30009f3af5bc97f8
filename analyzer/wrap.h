/*
 * Where a line of text ends.
 */
#ifndef STAGEPROF_ANALYZER_WRAP_H
#define STAGEPROF_ANALYZER_WRAP_H

#include <stddef.h>

/*
 * Bytes of valid UTF-8 for a line of at most `columns` of a terminal: up to a blank, or between two characters of
 * which one is wide (Chinese has no blanks), but not before a mark that ends a clause nor behind one that opens a
 * bracket. A word that is wider stands whole, beyond the columns. The blanks after it are the caller's.
 * At least 1 unless text is "".
 */
size_t sp_wrap(const char *text, size_t columns);

#endif
