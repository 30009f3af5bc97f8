# SPDX-License-Identifier: Apache-2.0
"""pillow_images.py IMAGES: what loaders do with Pillow. Prints how many images it decoded."""

import hashlib
import io
import sys

from PIL import Image, ImageFile


def picture(seed, size):
    image = Image.new("RGB", size)
    image.putdata(
        [((x * seed) % 256, (x // 7) % 256, (x * x) % 256) for x in range(size[0] * size[1])]
    )
    data = io.BytesIO()
    image.save(data, "JPEG", quality=80)
    return data.getvalue()


def main():
    images = int(sys.argv[1])
    counts = {"finished": 0, "aborted": 0}
    digest = hashlib.sha256()
    for seed in range(images):
        data = picture(seed + 1, (120 + seed % 40, 90 + seed % 30))
        digest.update(Image.open(io.BytesIO(data)).convert("RGB").tobytes())
        counts["finished"] += 1

        thumbnail = Image.open(io.BytesIO(data))
        thumbnail.draft("RGB", (30, 30))
        digest.update(thumbnail.tobytes())
        counts["finished"] += 1

        Image.open(io.BytesIO(data)).verify()  # reads the header only
        try:
            Image.open(io.BytesIO(data[: len(data) // 2])).load()
        except OSError as error:
            digest.update(str(error).encode()[:20])
            counts["aborted"] += 1
        ImageFile.LOAD_TRUNCATED_IMAGES = True  # Pillow feigns an end of image: libjpeg finishes
        digest.update(Image.open(io.BytesIO(data[: len(data) * 9 // 10])).convert("L").tobytes())
        ImageFile.LOAD_TRUNCATED_IMAGES = False
        counts["finished"] += 1
    print(digest.hexdigest(), counts["finished"], counts["aborted"])


if __name__ == "__main__":
    main()
