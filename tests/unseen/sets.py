# SPDX-License-Identifier: Apache-2.0
"""A folder for each program, models, and files of random content."""

import io
import os
import tempfile

import numpy
from torch import nn

FOLDER = tempfile.mkdtemp(prefix="unseen-", dir=os.environ.get("UNSEEN_FOLDER"))


def path(*parts):
    whole = os.path.join(FOLDER, *map(str, parts))
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    return whole


def mlp(*widths):
    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def noise(*shape, seed=0):
    return numpy.random.default_rng(seed).standard_normal(shape, dtype="f4")


def jpeg(side, seed=0):
    from PIL import Image

    small = numpy.random.default_rng(seed).integers(0, 255, (side // 8, side // 8, 3), "u1")
    out = io.BytesIO()
    Image.fromarray(small).resize((side, side)).save(out, "JPEG", quality=90)
    return out.getvalue()
