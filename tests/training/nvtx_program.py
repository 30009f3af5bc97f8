# SPDX-License-Identifier: Apache-2.0
"""Ranges by the nvtx package, which is compiled against NVIDIA's headers."""

import os
import threading

import nvtx


def work(name):
    with nvtx.annotate(name):
        with nvtx.annotate("inner", domain="data"):
            pass


for _ in range(5):
    work("step")
    first = nvtx.start_range("pair")
    second = nvtx.start_range("crossing")
    nvtx.end_range(first)
    nvtx.end_range(second)
# Each domain has a stack of its own.
nvtx.push_range("outer")
nvtx.push_range("größer", domain="other")
nvtx.pop_range()
nvtx.pop_range(domain="other")
thread = threading.Thread(target=work, args=("thread",))
thread.start()
thread.join()
nvtx.push_range("left open by a fork")
child = os.fork()
if child == 0:
    nvtx.pop_range()
    work("child")
    os._exit(0)
os.waitpid(child, 0)
print("done")
