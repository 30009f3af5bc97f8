# SPDX-License-Identifier: Apache-2.0
"""Libraries that decode in no C call that is hooked: their time is decoding, by their own names."""

import os
import subprocess
import sys
import tempfile
import unittest

import training

PYTHON = training.interpreter()
PROGRAM = [PYTHON, os.path.join(training.HERE, "library_decoders_program.py")]
SAMPLES = 60

# KIND of the program: (module, label of the call of a sample, column of the view workers)
KINDS = {
    "soundfile": ("soundfile", "soundfile read", "data_decode_ns"),
    "pydicom": ("pydicom", "pydicom dcmread", "data_decode_ns"),
    "rasterio": ("rasterio", "rasterio read", "data_decode_ns"),
    "tiff": ("PIL", "PIL.Image.load TIFF", "image_decode_ns"),
    "simplejpeg": ("simplejpeg", "simplejpeg.decode_jpeg", "image_decode_ns"),
    "kornia_rs": ("kornia_rs", "kornia_rs.read_image_jpeg", "image_decode_ns"),
    "pyspng": ("pyspng", "pyspng.load", "png_decode_ns"),
    "zstandard": ("zstandard", "zstandard decompress", "decompress_ns"),
    "lzma": ("lzma", "lzma.decompress", "decompress_ns"),
    "parquet": ("pyarrow.parquet", "pyarrow.parquet read_table", "data_decode_ns"),
    "polars": ("polars", "polars read_parquet", "data_decode_ns"),
    "tokenizers": ("tokenizers", "tokenizers encode", "tokenize_ns"),
}


class LibraryDecoders(unittest.TestCase):
    def check(self, kind):
        module, label, column = KINDS[kind]
        found = subprocess.run([PYTHON, "-c", "import " + module], stderr=subprocess.DEVNULL)
        if found.returncode != 0:
            self.skipTest(module + " is not installed")
        with tempfile.TemporaryDirectory() as folder:
            done = training.execute([*PROGRAM, kind], folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            run = os.path.join(folder, "run.zst")
            labels = training.report("labels", run)["labels"]
            (row,) = training.report("workers", run)["workers"]
        calls = sum(line["calls"] for line in labels if line["label"] == label)
        self.assertGreaterEqual(calls, SAMPLES, labels)
        parts = {key: ns for key, ns in row.items() if key.endswith("_ns") and ns}
        self.assertGreater(parts.get(column, 0), parts.get("transform_ns", 0) / 4, parts)


for name in KINDS:
    setattr(LibraryDecoders, "test_" + name, lambda self, name=name: self.check(name))

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
