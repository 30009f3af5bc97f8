# SPDX-License-Identifier: Apache-2.0
"""Makes a PNG and a JPEG file, and decodes them with OpenCV from memory and by name, so often as it
says."""

import os

import cv2
import numpy

pixels = numpy.random.default_rng(1).integers(0, 255, (40, 30, 3), "u1")
for name, from_memory, by_name in (("a.PNG", 3, 5), ("b.jpg", 4, 6)):
    cv2.imwrite(name, pixels)
    data = numpy.fromfile(name, "u1")
    images = [cv2.imdecode(data, cv2.IMREAD_COLOR) for _ in range(from_memory)]
    images += [cv2.imread(name) for _ in range(by_name)]
    assert all(image.shape == pixels.shape for image in images)
    os.remove(name)

# No image, a missing file, no bytes at all, and bytes that are not contiguous
assert cv2.imdecode(numpy.zeros(3, "u1"), cv2.IMREAD_COLOR) is None
assert cv2.imread("nothing") is None
try:
    cv2.imread(7)
    raise AssertionError
except (cv2.error, TypeError):
    pass
cv2.imdecode(numpy.zeros((8, 2), "u1")[:, 0], cv2.IMREAD_COLOR)
