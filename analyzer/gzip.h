/*
 * A FILE that compresses into another one. The one file that knows zlib.
 */
#ifndef STAGEPROF_ANALYZER_GZIP_H
#define STAGEPROF_ANALYZER_GZIP_H

#include <stdio.h>

/* Closing it ends the gzip stream and leaves `to` open; fclose() tells what failed. NULL: memory is out. */
FILE *sp_gzip_open(FILE *to);

#endif
