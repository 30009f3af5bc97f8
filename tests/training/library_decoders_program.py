# SPDX-License-Identifier: Apache-2.0
"""Training on samples that a library decodes, in the loop's process: KIND is a name below.

python3 library_decoders_program.py KIND
"""

import io
import sys

import numpy
import torch
from torch.utils.data import Dataset

from fit import fit

SAMPLES, BATCH, FEATURES = 60, 6, 64
NOISE = numpy.random.default_rng(0)


def soundfile():
    import soundfile

    soundfile.write("a.flac", (NOISE.standard_normal(160000) * 0.1).astype("f4"), 16000)
    return lambda: soundfile.read("a.flac")[0]


def pydicom():
    import pydicom
    from pydicom.dataset import FileDataset, FileMetaDataset

    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.2"
    meta.MediaStorageSOPInstanceUID = "1.2.3"
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    image = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
    image.SOPClassUID = meta.MediaStorageSOPClassUID
    image.Rows = image.Columns = 128
    image.BitsAllocated = image.BitsStored = 16
    image.HighBit, image.SamplesPerPixel, image.PixelRepresentation = 15, 1, 0
    image.PhotometricInterpretation = "MONOCHROME2"
    pixels = numpy.kron(NOISE.integers(0, 99, (16, 16)), numpy.ones((8, 8), "u2"))
    image.PixelData = pixels.tobytes()
    image.compress(pydicom.uid.RLELossless, encoding_plugin="pydicom")
    image.save_as("a.dcm", enforce_file_format=True)
    return lambda: pydicom.dcmread("a.dcm").pixel_array


def rasterio():
    import rasterio

    options = {"driver": "GTiff", "compress": "deflate", "dtype": "uint16", "tiled": True}
    with rasterio.open("a.tif", "w", height=256, width=256, count=2, **options) as file:
        file.write(NOISE.integers(0, 99, (2, 256, 256)).astype("u2"))

    def read():
        with rasterio.open("a.tif") as file:
            return file.read()

    return read


def tiff():
    from PIL import Image

    Image.fromarray(NOISE.integers(0, 99, (256, 256, 3)).astype("u1")).save(
        "a.tif", compression="tiff_lzw"
    )
    return lambda: numpy.asarray(Image.open("a.tif"))


def picture(kind, decode):
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(NOISE.integers(0, 99, (256, 256, 3)).astype("u1")).save(file, kind)
    return lambda: decode(file.getvalue())


def simplejpeg():
    import simplejpeg

    return picture("JPEG", simplejpeg.decode_jpeg)


def kornia_rs():
    import kornia_rs

    with open("a.jpg", "wb") as file:
        file.write(picture("JPEG", bytes)())
    return lambda: kornia_rs.read_image_jpeg("a.jpg", "rgb")


def pyspng():
    import pyspng

    return picture("PNG", pyspng.load)


def zstandard():
    import zstandard

    data = zstandard.ZstdCompressor().compress(NOISE.integers(0, 9, 500000).astype("u1").tobytes())
    return lambda: numpy.frombuffer(zstandard.ZstdDecompressor().decompress(data), "u1")


def lzma():
    import lzma

    data = lzma.compress(NOISE.integers(0, 9, 20000).astype("u1").tobytes())
    return lambda: numpy.frombuffer(lzma.decompress(data), "u1")


def parquet():
    import pyarrow
    import pyarrow.parquet

    columns = {f"c{i}": NOISE.integers(0, 999, 20000) for i in range(8)}
    pyarrow.parquet.write_table(pyarrow.table(columns), "a.parquet", compression="zstd")
    return lambda: pyarrow.parquet.read_table("a.parquet")["c0"].to_numpy()


def polars():
    import polars

    polars.DataFrame({f"c{i}": NOISE.integers(0, 999, 20000) for i in range(8)}).write_parquet("a")
    return lambda: polars.read_parquet("a")["c0"].to_numpy()


def tokenizers():
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({f"w{i}": i for i in range(99)} | {"?": 99}, "?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    text = " ".join(f"w{i % 120}" for i in range(5000))
    return lambda: numpy.array(tokenizer.encode(text).ids)


class Samples(Dataset):
    def __init__(self, read):
        self.read = read

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return torch.from_numpy(numpy.resize(self.read(), FEATURES).astype("f4"))


if __name__ == "__main__":
    fit(Samples(globals()[sys.argv[1]]()), BATCH, FEATURES)
