/*
 * The images that a thread is decoding: those between jpeg_start_decompress and their end. One event an
 * image, not one a line. An image that moves to another thread meanwhile is seen no more, and ends as
 * aborted when its place is needed.
 */
#ifndef STAGEPROF_PRELOAD_DECODE_H
#define STAGEPROF_PRELOAD_DECODE_H

#include <stdint.h>

#define SP_DECODES 8 /* at once in a thread; the oldest gives way */

struct sp_image {
	const void *object;    /* the decoder's own: libjpeg's cinfo. NULL: free */
	uint64_t start, last;  /* ticks: when it began, when a call of it last returned */
	uint64_t inside_ticks; /* in the library's calls */
	uint64_t finish_start; /* when the finishing call was entered; 0: it was not */
	uint64_t lines;	       /* delivered to the caller */
	uint32_t width, height; /* of the file */
	uint32_t suspended;    /* the starting call asked to be made again with more input */
};

struct sp_decode {
	struct sp_image images[SP_DECODES];
};

#endif
