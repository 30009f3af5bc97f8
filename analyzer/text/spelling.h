/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a word is from the one that was meant.
 */
#ifndef STAGEPROF_ANALYZER_SPELLING_H
#define STAGEPROF_ANALYZER_SPELLING_H

#define SP_TYPING_ERRORS_MANY 24u

/* Letters to add, drop, change, or swap with the next one, to make one word of the other.
 * SP_TYPING_ERRORS_MANY where a word has more letters than that. */
unsigned sp_typing_errors(const char *a, const char *b);

#endif
