/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breaks text into lines.
 */
#ifndef STAGEPROF_ANALYZER_WRAP_H
#define STAGEPROF_ANALYZER_WRAP_H

#include <stddef.h>

/*
 * The bytes of valid UTF-8 that fit into a line of `columns`. The line ends at a blank, or between
 * two characters of which one is wide (Chinese has no blanks), but not before a mark that closes
 * nor after a mark that opens. A word wider than the line is not split. The caller skips the blanks
 * after the line. At least 1 unless text is "".
 */
size_t sp_wrap(const char *text, size_t columns);

#endif
