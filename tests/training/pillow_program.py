# SPDX-License-Identifier: Apache-2.0
"""Decodes PNG and JPEG files with Pillow as data sets do: each image is loaded by several calls."""

import io

from PIL import Image

KINDS = {"PNG": 3, "JPEG": 4}

for kind, images in KINDS.items():
    file = io.BytesIO()
    Image.effect_noise((120, 80), 30).convert("RGB").save(file, kind)
    for _ in range(images):
        picture = Image.open(io.BytesIO(file.getvalue()))
        picture.load()
        picture.convert("RGB").resize((20, 20)).tobytes()
        assert len(picture.tobytes()) == 120 * 80 * 3
