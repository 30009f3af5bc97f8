# SPDX-License-Identifier: Apache-2.0
"""load.py make FOLDER: data for every loader. load.py pages FOLDER: for those of mapped files.
load.py NAME FOLDER: loads it as a trainer would, and prints what it counted itself, as JSON. A
loader whose library is not here ends with status 77."""

import io
import json
import os
import sys
import tarfile

COUNT, WIDTH, HEIGHT = 6, 64, 48
FRAMES = 20
PAGE, PAGES = 4096, 512  # of what is mapped


def pixels(seed):
    import numpy

    return numpy.random.default_rng(seed).integers(0, 256, (HEIGHT, WIDTH, 3), dtype="u1")


def files(folder, ending):
    return sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(ending))


def make_images(folder):
    from PIL import Image

    for i in range(COUNT):
        for ending in ("jpg", "png", "webp"):
            Image.fromarray(pixels(i)).save(os.path.join(folder, f"{i}.{ending}"))
    with tarfile.open(os.path.join(folder, "shard.tar"), "w") as tar:
        for path in files(folder, ".jpg"):
            tar.add(path, os.path.basename(path))


def make_arrays(folder):
    import numpy

    numpy.save(os.path.join(folder, "array.npy"), numpy.arange(100_000.0))


def make_hdf5(folder):
    import h5py
    import numpy

    with h5py.File(os.path.join(folder, "episode.hdf5"), "w") as file:
        file["observations/qpos"] = numpy.arange(14_000.0).reshape(1000, 14)
        file.create_dataset("action", data=numpy.ones((1000, 7)), chunks=(100, 7))


def make_lmdb(folder):
    import lmdb

    with lmdb.open(os.path.join(folder, "lmdb"), map_size=1 << 20) as store:
        with store.begin(write=True) as change:
            for i in range(COUNT):
                change.put(b"%d" % i, pixels(i).tobytes())


def make_video(folder):
    import av

    with av.open(os.path.join(folder, "clip.mp4"), "w") as out:
        stream = out.add_stream("mpeg4", rate=24)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for i in range(FRAMES):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(pixels(i))))
        out.mux(stream.encode())


def pages():
    import numpy

    return numpy.arange(PAGES * PAGE, dtype="u4").astype("u1").reshape(PAGES, PAGE)


def make_pages(folder):
    pages().tofile(os.path.join(folder, "pages.raw"))


def make_arrow(folder):
    import pyarrow

    table = pyarrow.table({"page": [row.tobytes() for row in pages()]})
    with pyarrow.OSFile(os.path.join(folder, "pages.arrow"), "wb") as out:
        with pyarrow.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)


def make_safetensors(folder):
    from safetensors.numpy import save_file

    save_file({"pages": pages()}, os.path.join(folder, "pages.safetensors"))


def make_torch(folder):
    import torch

    torch.save(torch.from_numpy(pages()), os.path.join(folder, "pages.pt"))


def make_sqlite(folder):
    import sqlite3

    with sqlite3.connect(os.path.join(folder, "pages.sqlite")) as store:
        store.execute("create table pages (id integer primary key, page blob)")
        rows = enumerate(row.tobytes() for row in pages())
        store.executemany("insert into pages values (?, ?)", rows)


def make_lmdb_pages(folder):
    import lmdb

    with lmdb.open(os.path.join(folder, "pages.lmdb"), map_size=1 << 23) as store:
        with store.begin(write=True) as change:
            for i, row in enumerate(pages()):
                change.put(b"%05d" % i, row.tobytes())


IMAGES = (make_images, make_arrays, make_hdf5, make_lmdb, make_video)
MAPPED = (make_pages, make_arrow, make_safetensors, make_lmdb_pages, make_torch, make_sqlite)


def make(folder, makers):
    for maker in makers:
        try:
            maker(folder)
        except ImportError as missing:
            print(f"{maker.__name__}: {missing}", file=sys.stderr)


def decode_all(sources):
    import numpy
    from PIL import Image

    return sum(numpy.asarray(Image.open(source)).shape[0] == HEIGHT for source in sources)


def load_pillow(folder):
    return {"jpeg_decode": decode_all(files(folder, ".jpg"))}


def load_png(folder):
    images = decode_all(files(folder, ".png"))
    return {"decompress_bytes": images * HEIGHT * (1 + 3 * WIDTH)}


def load_webp(folder):
    return {"webp_decode": decode_all(files(folder, ".webp"))}


def load_torchvision(folder):
    from torchvision.io import read_image

    return {"jpeg_decode": sum(read_image(p).shape[1] == HEIGHT for p in files(folder, ".jpg"))}


def load_cv2(folder):
    """Images by format, of which each may be decoded by a library that others see, or by one inside
    of OpenCV."""
    import cv2

    own = {}
    for ending, library in (("jpg", "jpeg"), ("png", "png"), ("webp", "webp")):
        images = sum(cv2.imread(p).shape[0] == HEIGHT for p in files(folder, "." + ending))
        own[f"{library}_decode"] = images
    with open("/proc/self/maps") as maps:
        names = {os.path.basename(line.split()[-1]) for line in maps}
    for library in ("jpeg", "png", "webp"):
        own[f"{library}_seen"] = any(name.startswith(f"lib{library}") for name in names)
    return own


def load_numpy(folder):
    import numpy

    return {"array_bytes": numpy.load(os.path.join(folder, "array.npy")).nbytes}


def load_memmap(folder):
    import numpy

    array = numpy.load(os.path.join(folder, "array.npy"), mmap_mode="r")
    return {"sum": float(array.sum())}


def load_hdf5(folder):
    """[event, data set, calls, bytes]"""
    import h5py

    own = []
    with h5py.File(os.path.join(folder, "episode.hdf5")) as file:
        for name in ("observations/qpos", "action"):
            data = file[name]
            reads = [data[i].nbytes for i in range(0, 1000, 50)]
            own.append(["H5Dread", "/" + name, len(reads), sum(reads)])
        chunks = [len(data.id.read_direct_chunk((i, 0))[1]) for i in range(0, 1000, 100)]
        own.append(["H5Dread_chunk", "/action", len(chunks), sum(chunks)])
    with h5py.File(os.path.join(folder, "written.hdf5"), "w") as file:
        data = file.create_dataset("out", (100,), "f4")
        for i in range(5):
            data[i * 10 : i * 10 + 10] = i
        own.append(["H5Dwrite", "/out", 5, 5 * 10 * 4])
    return own


def load_lmdb(folder):
    import lmdb

    with lmdb.open(os.path.join(folder, "lmdb"), readonly=True, lock=False) as store:
        with store.begin() as view:
            return {"entries": sum(len(v) == 3 * WIDTH * HEIGHT for _, v in view.cursor())}


# Each gives a page of a mapped file, by its number.


def map_memmap(folder):
    import numpy

    array = numpy.memmap(os.path.join(folder, "pages.raw"), "u1", "r", shape=(PAGES, PAGE))
    return lambda i: array[i].tobytes()


def map_lmdb(folder):
    import lmdb

    view = lmdb.open(os.path.join(folder, "pages.lmdb"), readonly=True, lock=False).begin()
    return lambda i: view.get(b"%05d" % i)


def map_arrow(folder):
    import pyarrow

    table = pyarrow.ipc.open_file(
        pyarrow.memory_map(os.path.join(folder, "pages.arrow"))
    ).read_all()
    return lambda i: table["page"][i].as_py()


def map_safetensors(folder):
    from safetensors import safe_open

    pages = safe_open(os.path.join(folder, "pages.safetensors"), "numpy").get_slice("pages")
    return lambda i: pages[i : i + 1].tobytes()


def map_torch(folder):
    import torch

    pages = torch.load(os.path.join(folder, "pages.pt"), mmap=True)
    return lambda i: pages[i].numpy().tobytes()


def map_sqlite(folder):
    import sqlite3

    store = sqlite3.connect(os.path.join(folder, "pages.sqlite"))
    store.execute("pragma mmap_size = 100000000")
    return lambda i: store.execute("select page from pages where id = ?", [i]).fetchone()[0]


def load_mapped(page):
    return {"pages": sum(len(page(i)) == PAGE for i in range(PAGES))}


def load_arrow(folder):
    return load_mapped(map_arrow(folder))


def load_safetensors(folder):
    return load_mapped(map_safetensors(folder))


def load_webdataset(folder):
    import webdataset

    shards = webdataset.WebDataset(os.path.join(folder, "shard.tar"), shardshuffle=False)
    return {
        "jpeg_decode": sum(
            image.size[1] == HEIGHT for image, in shards.decode("pil").to_tuple("jpg")
        )
    }


def load_tar(folder):
    with tarfile.open(os.path.join(folder, "shard.tar")) as tar:
        return {"jpeg_decode": decode_all(io.BytesIO(tar.extractfile(m).read()) for m in tar)}


def load_video(folder):
    import av

    with av.open(os.path.join(folder, "clip.mp4")) as clip:
        return {"video_decode": sum(1 for _ in clip.decode(video=0))}


def load_odd_python(folder):
    import odd_python

    own = os.path.join(folder, "odd")
    os.makedirs(own, exist_ok=True)
    odd_python.use(own)
    return {}


def main():
    name, folder = sys.argv[1:]
    if name in ("make", "pages"):
        make(folder, MAPPED + (IMAGES if name == "make" else ()))
        return
    try:
        print(json.dumps(globals()["load_" + name](folder)))
    except (ImportError, FileNotFoundError) as missing:
        print(missing, file=sys.stderr)
        sys.exit(77)


if __name__ == "__main__":
    main()
