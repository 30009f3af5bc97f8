# SPDX-License-Identifier: Apache-2.0
"""Makes a data set of varied JPEG photographs, in the layout of torchvision's ImageFolder.

    make-photos.py WHEEL OUT [--train N] [--val N] [--seed N]

WHEEL is a scikit-learn wheel: it ships two photographs (china.jpg, flower.jpg), of which every
picture is a crop, mirrored, resized, relit and written at a quality, chroma sampling and coding of
its own. The same arguments make the same pictures. OUT appears when it is complete, and is left
alone where it exists.
"""

import argparse
import io
import os
import random
import shutil
import zipfile

from PIL import Image, ImageEnhance

PHOTOS = {"temple": "china.jpg", "flower": "flower.jpg"}


def read_photos(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {
            label: Image.open(io.BytesIO(archive.read("sklearn/datasets/images/" + name))).convert(
                "RGB"
            )
            for label, name in PHOTOS.items()
        }


def vary(photo, rng):
    """A crop of at least half of each side, 300 to 900 pixels wide."""
    width = round(photo.width * rng.uniform(0.5, 1.0))
    height = round(photo.height * rng.uniform(0.5, 1.0))
    left = rng.randrange(photo.width - width + 1)
    top = rng.randrange(photo.height - height + 1)
    picture = photo.crop((left, top, left + width, top + height))
    scale = rng.uniform(300, 900) / width
    picture = picture.resize(
        (round(width * scale), round(height * scale)), Image.Resampling.BICUBIC
    )
    if rng.random() < 0.5:
        picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    for enhance in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        picture = enhance(picture).enhance(rng.uniform(0.6, 1.4))
    return picture.convert("L") if rng.random() < 0.05 else picture


def write_pictures(photos, folder, count, rng):
    for label, photo in photos.items():
        os.makedirs(os.path.join(folder, label))
        for number in range(count // len(photos)):
            picture = vary(photo, rng)
            picture.save(
                os.path.join(folder, label, "%04d.jpg" % number),
                quality=rng.randint(60, 95),
                subsampling=rng.choice(["4:4:4", "4:2:2", "4:2:0"]),
                progressive=rng.random() < 0.1,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel")
    parser.add_argument("out")
    parser.add_argument("--train", type=int, default=480)
    parser.add_argument("--val", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if os.path.isdir(args.out):
        return
    rng = random.Random(args.seed)
    photos = read_photos(args.wheel)
    partial = args.out + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    write_pictures(photos, os.path.join(partial, "train"), args.train, rng)
    write_pictures(photos, os.path.join(partial, "val"), args.val, rng)
    os.rename(partial, args.out)


if __name__ == "__main__":
    main()
