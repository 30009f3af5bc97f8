/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd frames made without zstd, for content that zstd would not shrink or that is almost all
 * runs. Every zstd reads them: RFC 8878, sections 3.1.1.1 (a frame of one segment, with a content
 * size of four bytes and a checksum) and 3.1.1.2 (raw blocks, and blocks that repeat one byte).
 *
 * No allocation, no state, async-signal-safe. Each function returns the number of bytes written
 * to `out`, or 0 as its comment says.
 */
#ifndef STAGEPROF_PRELOAD_FRAME_H
#define STAGEPROF_PRELOAD_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* The bytes that sp_frame_put_raw() adds to the content. */
#define SP_FRAME_RAW_BYTES 16u

/* One raw block, of at most 128 KiB. 0: no room. */
size_t sp_frame_put_raw(uint8_t *out, size_t room, const uint8_t *content, uint32_t bytes);

/* For content that is almost all runs of one byte: the frame has at most one byte for 32 bytes of
 * content. 0: the content has too few runs, or there is no room; `out` may be overwritten. */
size_t sp_frame_put_runs(uint8_t *out, size_t room, const uint8_t *content, uint32_t bytes);

#endif
