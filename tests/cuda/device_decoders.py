# SPDX-License-Identifier: Apache-2.0
"""nvJPEG, nvImageCodec and NVDEC by the names that they export, on libraries that stand for them:
linked, found by dlsym, and called from a training loop."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "training"))
import training
from frameworks import EAGER_LOOP, Case, write

# Each function takes 1 ms, and fails where an argument is not its number.
DOUBLE = """
#include <stddef.h>
#include <time.h>
#define IS(a, n) ((size_t)(a) == (n))
static int done(int is_right)
{
	nanosleep(&(struct timespec){0, 1000000}, 0);
	return is_right ? 0 : 7;
}
int nvjpegDecode(void *a, void *b, void *c, size_t d, int e, void *f, void *g)
{
	return done(IS(a, 1) && IS(b, 2) && IS(c, 3) && IS(d, 4) && IS(e, 5) && IS(f, 6) && IS(g, 7));
}
int nvjpegDecodeBatched(void *a, void *b, void *c, void *d, void *e, void *f)
{
	return done(IS(a, 1) && IS(b, 2) && IS(c, 3) && IS(d, 4) && IS(e, 5) && IS(f, 6));
}
int nvjpegDecodeBatchedEx(void *a, void *b, void *c, void *d, void *e, void *f, void *g)
{
	return IS(g, 7) ? nvjpegDecodeBatched(a, b, c, d, e, f) : 7;
}
int nvjpegDecodeJpegHost(void *a, void *b, void *c, void *d, void *e)
{
	return done(IS(a, 1) && IS(b, 2) && IS(c, 3) && IS(d, 4) && IS(e, 5));
}
int nvjpegDecodeJpeg(void *a, void *b, void *c, void *d, void *e, void *f, void *g)
{
	return IS(f, 6) && IS(g, 7) ? nvjpegDecodeJpegHost(a, b, c, d, e) : 7;
}
int nvimgcodecDecoderDecode(void *a, void *b, void *c, int d, void *e, void *f)
{
	return done(IS(a, 1) && IS(b, 2) && IS(c, 3) && IS(d, 4) && IS(e, 5) && IS(f, 6));
}
int nvimgcodecFutureWaitForAll(void *a) { return done(IS(a, 1)); }
int cuvidDecodePicture(void *a, void *b) { return done(IS(a, 1) && IS(b, 2)); }
int cuvidMapVideoFrame64(void *a, int b, void *c, void *d, void *e)
{
	return done(IS(a, 1) && IS(b, 2) && IS(c, 3) && IS(d, 4) && IS(e, 5));
}
"""
MAIN = """
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
typedef int function(long, ...);
#ifdef LOOKED_UP
#define GET(name) ((function *)dlsym(library, #name))
#else
#define GET(name) name
extern function nvjpegDecode, nvjpegDecodeBatched, nvjpegDecodeBatchedEx, nvjpegDecodeJpeg,
	nvjpegDecodeJpegHost, nvimgcodecDecoderDecode, nvimgcodecFutureWaitForAll,
	cuvidDecodePicture, cuvidMapVideoFrame64;
#endif
#define CALL(name, times)                                                                          \\
	for (int i = 0; i < times; i++) {                                                          \\
		errno = 11;                                                                        \\
		if (GET(name)(1L, 2L, 3L, 4L, 5L, 6L, 7L) || errno != 11)                          \\
			return 2;                                                                  \\
	}                                                                                          \\
	if (GET(name)(99L, 2L, 3L, 4L, 5L, 6L, 7L) != 7)                                           \\
		return 3;
int main(void)
{
	char text[8];
	FILE *file = fopen("/proc/self/maps", "r");

	if (!file || !fread(text, 1, sizeof(text), file))
		return 1;
#ifdef LOOKED_UP
	void *library = dlopen("./libdecoders.so", RTLD_NOW | RTLD_LOCAL);
	if (dlsym(RTLD_DEFAULT, "nvjpegDecode") || dlsym(RTLD_DEFAULT, "cuvidDecodePicture"))
		return 4;
#endif
	CALL(nvjpegDecode, 20)
	CALL(nvjpegDecodeBatched, 3)
	CALL(nvjpegDecodeBatchedEx, 4)
	CALL(nvjpegDecodeJpeg, 5)
	CALL(nvjpegDecodeJpegHost, 6)
	CALL(nvimgcodecDecoderDecode, 7)
	CALL(nvimgcodecFutureWaitForAll, 8)
	CALL(cuvidDecodePicture, 9)
	CALL(cuvidMapVideoFrame64, 10)
	return 0;
}
"""
COUNTS = {
    "nvjpeg decode": 20 + 5 + 6,
    "nvjpeg decode batch": 3 + 4,
    "nvimgcodec decode batch": 7,
    "nvimgcodec wait": 8,
    "nvdec decode": 9,
    "nvdec map frame": 10,
}
LOOP = """
import ctypes
decode = ctypes.CDLL("./libdecoders.so").nvjpegDecode
decode.argtypes = [ctypes.c_void_p] * 7
def image():
    assert not decode(1, 2, 3, 4, 5, 6, 7)
"""


class Decoders(Case):
    def setUp(self):
        super().setUp()
        write(self.path("double.c"), DOUBLE)
        make = ["cc", "-shared", "-fPIC", "-o", "libdecoders.so", "double.c"]
        subprocess.run(make, cwd=self.folder, check=True)

    def test_each_call_is_counted_once(self):
        """A call of another function of the library inside is a part, and a failure is none."""
        write(self.path("main.c"), MAIN)
        for flags in (["./libdecoders.so"], ["-DLOOKED_UP", "-ldl"]):
            with self.subTest(flags[0]):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                make = ["cc", "-o", "main", "main.c", *flags]
                subprocess.run(make, cwd=self.folder, check=True)
                self.run_command("./main")
                ranges = training.report("ranges", self.path("run.zst"))["ranges"]
                self.assertEqual({row["name"]: row["calls"] for row in ranges}, COUNTS)
                for row in ranges:
                    self.assertGreaterEqual(row["total_ns"], row["calls"] * 1000000)

    def test_decoding_in_the_loop_is_input(self):
        self.tensorflow_double()
        loop = LOOP + EAGER_LOOP.replace("    Grad", "    image()\n    Grad")
        summary = self.run_script(loop)
        self.assertEqual(summary["steps"]["count"], 30)
        took = [row["ns"] for row in summary["account"] if row["part"] == "loader_wait"][0]
        row = training.report("ranges", self.path("run.zst"))["ranges"][0]
        self.assertEqual((row["name"], row["calls"]), ("nvjpeg decode", 30))
        self.assertGreaterEqual(row["total_ns"], 30 * 1000000)
        # The first call is before the first step. Each step's share is rounded to nanoseconds.
        self.assertAlmostEqual(took, row["total_ns"], delta=row["max_ns"] + 30)


if __name__ == "__main__":
    unittest.main()
