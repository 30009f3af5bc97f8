# SPDX-License-Identifier: Apache-2.0
import colorsys
import tempfile
import threading

with tempfile.TemporaryFile() as file:
    file.write(b"x")


def thread():
    for _ in range(3):
        colorsys.rgb_to_hsv(1, 0, 0)


worker = threading.Thread(target=thread)
worker.start()
worker.join()
try:
    colorsys.rgb_to_hsv(1)
except TypeError:
    pass
else:
    raise AssertionError
print(colorsys.rgb_to_hsv(1, 0, 0), flush=True)
