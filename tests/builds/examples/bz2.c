/* SPDX-License-Identifier: Apache-2.0 */
/* Decompresses in pieces by libbz2 and prints its own count of calls and bytes. */
#include <bzlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 100000u
#define PIECE 4096u

int main(void)
{
	static char plain[BYTES], packed[BYTES], out[PIECE];
	unsigned packed_bytes = BYTES, calls = 0, bytes = 0;
	bz_stream stream = {.next_in = packed};
	int r = BZ_OK;

	for (unsigned i = 0; i < BYTES; i++)
		plain[i] = (char)(i * i >> 7);
	if (BZ2_bzBuffToBuffCompress(packed, &packed_bytes, plain, BYTES, 1, 0, 0) != BZ_OK ||
	    BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK)
		return 1;
	stream.avail_in = packed_bytes;
	while (r == BZ_OK) {
		stream.next_out = out;
		stream.avail_out = PIECE;
		r = BZ2_bzDecompress(&stream);
		if (memcmp(out, plain + bytes, PIECE - stream.avail_out) != 0)
			return 1;
		bytes += PIECE - stream.avail_out;
		calls++;
	}
	BZ2_bzDecompressEnd(&stream);
	printf("{\"decompress\": {\"calls\": %u, \"bytes\": %u}}\n", calls, bytes);
	return r != BZ_STREAM_END || bytes != BYTES;
}
