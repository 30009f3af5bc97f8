# SPDX-License-Identifier: Apache-2.0
"""Programs for the advice on work on batches that needs a core. The training thread makes them
itself, and its clock counts its time on cores, so other programs do not change the gain."""

import io
import os
import sys
import time
import zlib

import numpy
import own_loop as own
import torch
from own_loop import CASE, IS_AFTER, Loop
from torch.utils.data import DataLoader, Dataset

STEPS, MANY = 240, 8


class Made(Dataset):
    """Samples from a function; `sources` are made once."""

    def __init__(self, make, sources):
        self.make, self.sources = make, sources

    def __len__(self):
        return 2 * STEPS

    def __getitem__(self, index):
        return self.make(self.sources[index % len(self.sources)])


def short(values):
    return torch.from_numpy(numpy.asarray(values).reshape(-1)[: own.WIDTH].astype("f4"))


def stack(samples):
    return torch.stack(samples)


def loader(make, sources, collate=None):
    return [DataLoader(Made(make, sources), batch_size=2, collate_fn=collate)]


def summed(values):
    total = 0
    for value in values:
        total += value * value
    return torch.full((own.WIDTH,), float(total))


def transform():
    values = list(range(30000))
    rows = torch.arange(30000.0)
    if IS_AFTER:
        return loader(lambda row: (row * row).sum().expand(own.WIDTH), [rows] * MANY)
    return loader(summed, [values] * MANY)


def decompress():
    random = numpy.random.default_rng(1)
    plain = [random.integers(0, 40, 400000, "u1").tobytes() for _ in range(MANY)]
    if IS_AFTER:
        return loader(lambda row: short(numpy.frombuffer(row, "u1")), plain)
    packed = [zlib.compress(row) for row in plain]
    return loader(lambda row: short(numpy.frombuffer(zlib.decompress(row), "u1")), packed)


def decode_data():
    import pyarrow
    import pyarrow.parquet

    random = numpy.random.default_rng(1)
    columns = {f"c{i}": random.integers(0, 999, 30000) for i in range(8)}
    pyarrow.parquet.write_table(pyarrow.table(columns), "rows.parquet", compression="zstd")
    if IS_AFTER:
        return loader(lambda row: short(row), [columns["c0"]] * MANY)
    read = lambda path: pyarrow.parquet.read_table(path, use_threads=False)  # noqa: E731
    return loader(lambda path: short(read(path)["c0"]), ["rows.parquet"] * MANY)


def tokenize():
    """The library's name is what counts, and few machines have it."""
    with open("tokenizers.py", "w") as file:
        file.write("class Tokenizer:\n def encode(self, text):\n  return list(map(ord, text))\n")
    sys.path.insert(0, ".")
    from tokenizers import Tokenizer

    tokenizer = Tokenizer()
    if IS_AFTER:
        return loader(short, [tokenizer.encode("word " * 100)] * MANY)
    return loader(lambda text: short(tokenizer.encode(text)[:500]), ["word " * 9000] * MANY)


def padded(samples):
    rows = [[int(word) for word in row] + [0] * 10 for row in samples]
    return torch.tensor(rows, dtype=torch.float32)[:, : own.WIDTH]


def collate():
    rows = [torch.arange(3000) for _ in range(MANY)]
    fast = lambda samples: stack(samples)[:, : own.WIDTH].float()  # noqa: E731
    return loader(lambda row: row, rows, fast if IS_AFTER else padded)


def picture(side, kind, **options):
    from PIL import Image

    random = numpy.random.default_rng(1)
    small = Image.fromarray(random.integers(0, 255, (24, 32, 3), "u1"))
    file = io.BytesIO()
    small.resize((side, side), Image.Resampling.BICUBIC).save(file, kind, **options)
    return file.getvalue()


def pillow(data):
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        image.load()
        return short([image.getpixel((x, 0))[0] for x in range(own.WIDTH)])


def decode_once():
    if IS_AFTER:
        rows = [numpy.zeros((512, 512, 3), "u1") for _ in range(MANY)]
        return loader(lambda row: short(row.copy()), rows)
    return loader(pillow, [picture(512, "JPEG")] * MANY)


def decode_smaller():
    return loader(pillow, [picture(256 if IS_AFTER else 1024, "JPEG")] * MANY)


def decode_half():
    """Each picture is decoded twice, or once."""

    def twice(data):
        return pillow(data) if IS_AFTER else pillow(data) + pillow(data)

    return loader(twice, [picture(512, "JPEG")] * MANY)


def not_png():
    return loader(pillow, [picture(512, "JPEG" if IS_AFTER else "PNG")] * MANY)


def video_file(every):
    import av

    path = os.path.abspath(f"video-{every}.mp4")
    random = numpy.random.default_rng(1)
    with av.open(path, "w") as file:
        stream = file.add_stream("mpeg4", rate=30)
        stream.width = stream.height = 256
        stream.gop_size = every
        image = random.integers(0, 255, (256, 256, 3), "u1")
        for number in range(60):
            image[number] = 0
            for packet in stream.encode(av.VideoFrame.from_ndarray(image)):
                file.mux(packet)
        for packet in stream.encode():
            file.mux(packet)
    return path


def frame(file):
    """The 40th frame: by all frames before it from the last key frame."""
    stream = file.streams.video[0]
    file.seek(int(39 / 30 / stream.time_base), stream=stream)
    for found in file.decode(stream):
        if found.time * 30 >= 38.5:
            return torch.full((own.WIDTH,), float(found.planes[0].width))


def video_seek():
    import av

    file = av.open(video_file(1 if IS_AFTER else 60))
    file.streams.video[0].codec_context.thread_count = 1
    return loader(frame, [file])


def hdf5_file(**options):
    import h5py

    with h5py.File("samples.h5", "w") as file:
        for number in range(200):
            file.create_group(f"episode_{number}")["rows"] = numpy.full((4, 64), number, "f4")
        file.create_dataset("all", data=numpy.random.rand(256, 4096).astype("f4"), **options)


def hdf5_handle():
    import h5py

    hdf5_file()
    kept = h5py.File("samples.h5", "r")

    def read(number):
        if IS_AFTER:
            return short(kept[f"episode_{number}"]["rows"][0])
        with h5py.File("samples.h5", "r") as file:
            return short(file[f"episode_{number}"]["rows"][0])

    return loader(read, list(range(MANY)))


def hdf5_chunks():
    import h5py

    hdf5_file(chunks=(1 if IS_AFTER else 128, 4096), compression=None if IS_AFTER else "gzip")
    # No room for a chunk: each sample reads its chunk again.
    rows = h5py.File("samples.h5", "r", rdcc_nbytes=0)["all"]
    return loader(lambda number: short(rows[number]), [number * 31 for number in range(MANY)])


CASES = dict(globals())

if __name__ == "__main__":
    passes = CASES[CASE]()
    passes[0].dataset[0]  # imports what it needs
    Loop(own.computing(4), now=time.process_time_ns).fit(passes)
