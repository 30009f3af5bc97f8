# SPDX-License-Identifier: Apache-2.0
"""Makes a video of 30 frames, or reads one with the library that is named; prints how many frames
it got.

python3 video_program.py make|av|cv2|decord FILE
"""

import sys

FRAMES, WIDTH, HEIGHT = 30, 64, 48


def make(path):
    import av
    import numpy

    with av.open(path, "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for i in range(FRAMES):
            pixels = numpy.full((HEIGHT, WIDTH, 3), i * 8, numpy.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return FRAMES


def read_av(path):
    import av

    with av.open(path) as container:
        return sum(1 for _ in container.decode(video=0))


def read_cv2(path):
    import cv2

    capture, frames = cv2.VideoCapture(path), 0
    while capture.read()[0]:
        frames += 1
    return frames


def read_decord(path):
    import decord

    reader = decord.VideoReader(path)
    return len([reader[i] for i in (3, 4)]) + reader.get_batch([1, 5, 9]).shape[0]


if __name__ == "__main__":
    print(
        {"make": make, "av": read_av, "cv2": read_cv2, "decord": read_decord}[sys.argv[1]](
            sys.argv[2]
        )
    )
