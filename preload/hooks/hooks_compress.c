/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompression of blocks by zlib, LZ4, zstd and Snappy: one event for each call, with the bytes
 * that came out. Calls that such a library makes itself, and PNG's calls of zlib, belong to the
 * outer call.
 */
#include "preload/hooks/decode.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"

/* zlib's z_stream on LP64. `allocate` lies inside the library unless the host set its own. */
struct sp_z_stream {
	const uint8_t *next_in;
	unsigned avail_in;
	unsigned long total_in;
	uint8_t *next_out;
	unsigned avail_out;
	unsigned long total_out;
	const char *msg;
	void *state;
	const void *allocate;
};

static void call_end(const struct sp_decode_call *call, uint32_t kind, int64_t value)
{
	struct sp_thread *t = call->thread;

	if (!t || t->state != SP_THREAD_LIVE)
		return;
	sp_decode_of(t)->inside = call->outer;
	sp_emit(t, kind, 0, call->start, sp_clock_ticks() - call->start, value);
}

/* Each library has its own error numbers: -1 stands for all. */
static int64_t size_result(int64_t ret)
{
	return ret < 0 ? -1 : ret;
}

/* 1: the stream's end. -5 is Z_BUF_ERROR: nothing to do, which is no error. */
SP_HOOK(int, inflate, struct sp_z_stream *stream, int flush)
{
	const void *library_addr = stream ? stream->allocate : NULL;
	__typeof__(&inflate) real = SP_ORIGINAL_FOR_CALLER(inflate, "inflate", library_addr);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	uint8_t *before = stream ? stream->next_out : NULL;
	int ret = real(stream, flush);

	call_end(&call, SP_EV_zlib_inflate, ret < 0 && ret != -5 ? -1 : stream->next_out - before);
	return ret;
}

SP_HOOK(int, uncompress, uint8_t *out, unsigned long *out_bytes, const uint8_t *in,
	unsigned long bytes)
{
	__typeof__(&uncompress) real = SP_ORIGINAL_FOR_CALLER(uncompress, "compress", NULL);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(out, out_bytes, in, bytes);

	call_end(&call, SP_EV_zlib_inflate, ret ? -1 : (int64_t)*out_bytes);
	return ret;
}

SP_HOOK(int, LZ4_decompress_safe, const char *in, char *out, int bytes, int room)
{
	__typeof__(&LZ4_decompress_safe) real =
		SP_ORIGINAL_FOR_CALLER(LZ4_decompress_safe, "LZ4_", NULL);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(in, out, bytes, room);

	call_end(&call, SP_EV_lz4_decompress, size_result(ret));
	return ret;
}

SP_HOOK(size_t, LZ4F_decompress, void *context, void *out, size_t *out_bytes, const void *in,
	size_t *bytes, const void *options)
{
	__typeof__(&LZ4F_decompress) real = SP_ORIGINAL_FOR_CALLER(LZ4F_decompress, "LZ4F_", NULL);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	size_t ret = real(context, out, out_bytes, in, bytes, options);

	call_end(&call, SP_EV_lz4_decompress, (int64_t)ret < 0 ? -1 : (int64_t)*out_bytes);
	return ret;
}

/* zstd's errors are sizes near the top: (size_t)-code. */
SP_HOOK(size_t, ZSTD_decompress, void *out, size_t room, const void *in, size_t bytes)
{
	__typeof__(&ZSTD_decompress) real = SP_ORIGINAL_FOR_CALLER(ZSTD_decompress, "ZSTD_", NULL);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	size_t ret = real(out, room, in, bytes);

	call_end(&call, SP_EV_zstd_decompress, size_result((int64_t)ret));
	return ret;
}

SP_HOOK(size_t, ZSTD_decompressDCtx, void *context, void *out, size_t room, const void *in,
	size_t bytes)
{
	__typeof__(&ZSTD_decompressDCtx) real =
		SP_ORIGINAL_FOR_CALLER(ZSTD_decompressDCtx, "ZSTD_", NULL);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	size_t ret = real(context, out, room, in, bytes);

	call_end(&call, SP_EV_zstd_decompress, size_result((int64_t)ret));
	return ret;
}

struct sp_zstd_out {
	void *at;
	size_t size, pos;
};

SP_HOOK(size_t, ZSTD_decompressStream, void *context, struct sp_zstd_out *out, void *in)
{
	__typeof__(&ZSTD_decompressStream) real =
		SP_ORIGINAL_FOR_CALLER(ZSTD_decompressStream, "ZSTD_", NULL);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	size_t before = out->pos, ret = real(context, out, in);

	call_end(&call, SP_EV_zstd_decompress,
		 (int64_t)ret < 0 ? -1 : (int64_t)(out->pos - before));
	return ret;
}

SP_HOOK(int, snappy_uncompress, const char *in, size_t bytes, char *out, size_t *out_bytes)
{
	__typeof__(&snappy_uncompress) real =
		SP_ORIGINAL_FOR_CALLER(snappy_uncompress, "snappy_", NULL);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(in, bytes, out, out_bytes);

	call_end(&call, SP_EV_snappy_decompress, ret ? -1 : (int64_t)*out_bytes);
	return ret;
}
