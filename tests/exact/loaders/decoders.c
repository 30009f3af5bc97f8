/* SPDX-License-Identifier: Apache-2.0 */
/* Images and blocks decoded in every way that leaves a call: by its return, by longjmp, not at all.
 * Prints what it counted as JSON; tests/exact/loaders/decoders.py compares. */
#include <lz4.h>
#include <lz4frame.h>
#include <png.h>
#include <setjmp.h>
#include <snappy-c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#ifdef HAVE_TURBOJPEG
#include <turbojpeg.h>
#endif

#define WIDTH 64
#define HEIGHT 48

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum way { IMAGE, ROWS, HEADER_ONLY, ROWS_NO_END };

static uint8_t pixels[HEIGHT][3 * WIDTH];
static png_bytep rows[HEIGHT];

static void quiet(png_structp png, png_const_charp text)
{
	(void)text;
	png_longjmp(png, 1);
}

static void png_make(const char *path, int interlaced)
{
	FILE *file = fopen(path, "wb");
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);

	for (int y = 0; y < HEIGHT; y++) {
		rows[y] = pixels[y];
		for (int x = 0; x < 3 * WIDTH; x++)
			pixels[y][x] = (uint8_t)rand();
	}
	png_init_io(png, file);
	png_set_IHDR(png, info, WIDTH, HEIGHT, 8, PNG_COLOR_TYPE_RGB, interlaced, 0, 0);
	png_write_info(png, info);
	png_write_image(png, rows);
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	fclose(file);
}

static void png_rows(png_structp png, png_infop info, enum way way)
{
	png_read_info(png, info);
	if (way == IMAGE)
		png_read_image(png, rows);
	for (int y = 0; y < HEIGHT && (way == ROWS || way == ROWS_NO_END); y++)
		png_read_row(png, rows[y], NULL);
	if (way == IMAGE || way == ROWS)
		png_read_end(png, NULL);
}

/* Returns 1 where the image was decoded, 0 where an error came instead. */
static int png_load(const char *path, enum way way)
{
	FILE *file = fopen(path, "rb");
	png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, quiet, NULL);
	png_infop info = png_create_info_struct(png);
	volatile int done = 0;

	if (!setjmp(png_jmpbuf(png))) {
		png_init_io(png, file);
		png_rows(png, info, way);
		done = 1;
	}
	png_destroy_read_struct(&png, &info, NULL);
	fclose(file);
	return done;
}

static void shorten(const char *from, const char *to)
{
	char block[5000];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");

	EXPECT(fread(block, 1, sizeof(block), in) == sizeof(block));
	EXPECT(fwrite(block, 1, sizeof(block), out) == sizeof(block));
	fclose(in);
	fclose(out);
}

/* Returns the images decoded; those given up are *ret_aborted. */
static int png_all(int *ret_aborted)
{
	int decoded = 0;

	png_make("plain.png", PNG_INTERLACE_NONE);
	png_make("interlaced.png", PNG_INTERLACE_ADAM7);
	shorten("plain.png", "short.png");
	for (int i = 0; i < 3; i++) {
		decoded += png_load("plain.png", IMAGE);
		decoded += png_load("plain.png", ROWS);
		decoded += png_load("plain.png", ROWS_NO_END);
		decoded += png_load("interlaced.png", IMAGE);
		EXPECT(png_load("plain.png", HEADER_ONLY));
		EXPECT(!png_load("short.png", IMAGE));
		EXPECT(!png_load("short.png", ROWS));
		*ret_aborted += 2;
	}
	return decoded;
}

static int blocks_all(size_t *ret_bytes)
{
	static uint8_t plain[10000], packed[20000], out[10000];
	uLongf packed_bytes = sizeof(packed), out_bytes = sizeof(out);
	size_t n = ZSTD_compress(packed, sizeof(packed), plain, sizeof(plain), 1);

	for (int i = 0; i < 5; i++)
		*ret_bytes += ZSTD_decompress(out, sizeof(out), packed, n);
	EXPECT(compress(packed, &packed_bytes, plain, sizeof(plain)) == Z_OK);
	for (int i = 0; i < 5; i++) {
		EXPECT(uncompress(out, &out_bytes, packed, packed_bytes) == Z_OK);
		*ret_bytes += out_bytes;
	}
	return 10;
}

static void streams_zstd(const uint8_t *packed, size_t bytes, size_t *ret_bytes)
{
	static uint8_t out[10000];
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_inBuffer in = {packed, bytes, 0};
	ZSTD_outBuffer to = {out, sizeof(out), 0};

	*ret_bytes += ZSTD_decompressDCtx(context, out, sizeof(out), packed, bytes);
	EXPECT(ZSTD_decompressStream(context, &to, &in) == 0 && to.pos == sizeof(out));
	*ret_bytes += to.pos;
	ZSTD_freeDCtx(context);
}

/* LZ4 by block and by frame, Snappy, and zstd by its other names. */
static int blocks_others(size_t *ret_bytes)
{
	static uint8_t plain[10000], packed[20000], out[10000];
	size_t n = sizeof(packed), room = sizeof(out), asked;
	LZ4F_dctx *context;
	int bytes =
		LZ4_compress_default((char *)plain, (char *)packed, sizeof(plain), sizeof(packed));

	*ret_bytes += (size_t)LZ4_decompress_safe((char *)packed, (char *)out, bytes, sizeof(out));
	asked = n = LZ4F_compressFrame(packed, sizeof(packed), plain, sizeof(plain), NULL);
	EXPECT(!LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)));
	EXPECT(LZ4F_decompress(context, out, &room, packed, &asked, NULL) == 0 &&
	       room == sizeof(out));
	*ret_bytes += room;
	LZ4F_freeDecompressionContext(context);
	n = sizeof(packed);
	EXPECT(snappy_compress((char *)plain, sizeof(plain), (char *)packed, &n) == SNAPPY_OK);
	EXPECT(snappy_uncompress((char *)packed, n, (char *)out, &room) == SNAPPY_OK);
	*ret_bytes += room;
	n = ZSTD_compress(packed, sizeof(packed), plain, sizeof(plain), 1);
	streams_zstd(packed, n, ret_bytes);
	return 5;
}

static int turbo_all(int *ret_aborted)
{
	int decoded = 0;

#ifdef HAVE_TURBOJPEG
	static uint8_t out[HEIGHT * WIDTH * 3];
	tjhandle packer = tjInitCompress(), reader = tjInitDecompress();
	unsigned long bytes = 0;
	uint8_t *jpeg = NULL;

	EXPECT(tjCompress2(packer, pixels[0], WIDTH, 0, HEIGHT, TJPF_RGB, &jpeg, &bytes, TJSAMP_420,
			   90, 0) == 0);
	for (int i = 0; i < 4; i++)
		decoded += tjDecompress2(reader, jpeg, bytes, out, 0, 0, 0, TJPF_RGB, 0) == 0;
	EXPECT(tjDecompress2(reader, jpeg, 20, out, 0, 0, 0, TJPF_RGB, 0) != 0);
	*ret_aborted += 1;
	tjFree(jpeg);
	tjDestroy(packer);
	tjDestroy(reader);
#else
	(void)ret_aborted;
#endif
	return decoded;
}

int main(void)
{
	int png_aborted = 0, turbo_aborted = 0, blocks, png, turbo;
	size_t bytes = 0;

	png = png_all(&png_aborted);
	/* After errors that left libpng by longjmp: nothing must hide these. */
	blocks = blocks_all(&bytes) + blocks_others(&bytes);
	turbo = turbo_all(&turbo_aborted);
	EXPECT(png == 12 && (turbo == 4 || turbo == 0));
	printf("{\"png_decode\": [%d, %d], \"jpeg_decode\": [%d, %d], \"decompress\": [%d, 0], "
	       "\"decompress_bytes\": %zu}\n",
	       png + png_aborted, png_aborted, turbo + turbo_aborted, turbo_aborted, blocks, bytes);
	return 0;
}
