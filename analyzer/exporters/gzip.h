/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A FILE that compresses into another one. The one file that knows zlib.
 */
#ifndef STAGEPROF_ANALYZER_GZIP_H
#define STAGEPROF_ANALYZER_GZIP_H

#include <stdio.h>

/* fclose() ends the gzip stream, leaves `to` open, and reports a failure. NULL: memory is out. */
FILE *sp_gzip_open(FILE *to);

#endif
