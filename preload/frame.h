/*
 * zstd frames made by hand, for what zstd need not look at. Any zstd reads them: RFC 8878, sections 3.1.1.1 (a
 * frame of one segment, with its content's size in four bytes and a checksum) and 3.1.1.2 (raw blocks, and blocks
 * that repeat one byte).
 *
 * No allocation, no state, async-signal-safe. Each returns the bytes put to `out`, or 0: see there.
 */
#ifndef STAGEPROF_PRELOAD_FRAME_H
#define STAGEPROF_PRELOAD_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* What sp_frame_put_raw() puts beside the content. */
#define SP_FRAME_RAW_BYTES 16u

/* One raw block, of at most 128 KiB. 0: no room. */
size_t sp_frame_put_raw(uint8_t *out, size_t room, const uint8_t *content, uint32_t bytes);

/* Content that is little but runs of one byte; the frame has at most one byte in 32 of it. 0: there is more, or no room for
 * as much; `out` may have been written to. */
size_t sp_frame_put_runs(uint8_t *out, size_t room, const uint8_t *content, uint32_t bytes);

#endif
