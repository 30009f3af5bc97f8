"""load.py make FOLDER: data for every loader. load.py NAME FOLDER: loads it as a trainer would, and
prints what it counted itself, as JSON. A loader whose library is not here ends with status 77."""

import io
import json
import os
import sys
import tarfile

COUNT, WIDTH, HEIGHT = 6, 64, 48
FRAMES = 20


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


def make(folder):
    for maker in (make_images, make_arrays, make_hdf5, make_lmdb, make_video):
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
    import cv2

    return {"images": sum(cv2.imread(p).shape[0] == HEIGHT for p in files(folder, ".png"))}


def load_numpy(folder):
    import numpy

    return {"array_bytes": numpy.load(os.path.join(folder, "array.npy")).nbytes}


def load_memmap(folder):
    import numpy

    array = numpy.load(os.path.join(folder, "array.npy"), mmap_mode="r")
    return {"sum": float(array.sum())}


def load_hdf5(folder):
    import h5py

    reads = nbytes = 0
    with h5py.File(os.path.join(folder, "episode.hdf5")) as file:
        for name in ("observations/qpos", "action"):
            data = file[name]
            for i in range(0, 1000, 50):
                nbytes += data[i].nbytes
                reads += 1
    return {"hdf5_read": reads, "hdf5_read_bytes": nbytes}


def load_lmdb(folder):
    import lmdb

    with lmdb.open(os.path.join(folder, "lmdb"), readonly=True, lock=False) as store:
        with store.begin() as view:
            return {"entries": sum(len(v) == 3 * WIDTH * HEIGHT for _, v in view.cursor())}


def load_tar(folder):
    with tarfile.open(os.path.join(folder, "shard.tar")) as tar:
        return {"jpeg_decode": decode_all(io.BytesIO(tar.extractfile(m).read()) for m in tar)}


def load_video(folder):
    import av

    with av.open(os.path.join(folder, "clip.mp4")) as clip:
        return {"video_decode": sum(1 for _ in clip.decode(video=0))}


def main():
    name, folder = sys.argv[1:]
    if name == "make":
        make(folder)
        return
    try:
        print(json.dumps(globals()["load_" + name](folder)))
    except (ImportError, FileNotFoundError) as missing:
        print(missing, file=sys.stderr)
        sys.exit(77)


if __name__ == "__main__":
    main()
