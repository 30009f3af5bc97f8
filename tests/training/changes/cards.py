# SPDX-License-Identifier: Apache-2.0
"""Programs for the advice on a GPU. The device of tests/cuda/fake is busy for known times, and
copies from memory that is not pinned return after they were made (planted/device.py)."""

import os
import time

import device
import torch
from own_loop import CASE, IS_AFTER, Loop, Rows
from torch.utils.data import DataLoader

STEPS, FLOATS = 40, 1 << 22


class Copied(Loop):
    """Copies a batch to the device in each step."""

    def __init__(self, pinned, floats=FLOATS):
        super().__init__(net=device.Net(ms=8))
        self.bytes = 4 * floats
        self.target = device.device_memory(self.bytes)
        self.rows = torch.rand(floats)
        self.source = device.pinned_memory(self.bytes) if pinned else self.rows.data_ptr()
        self.whole = CASE == "smaller_copies"

    def copy(self):
        if self.whole:
            device.copy_in_whole(self.target, self.source, self.bytes)
        elif IS_AFTER:
            device.copy_in(self.target, self.source, self.bytes)
        else:
            device.copy_in_and_wait(self.target, self.source, self.bytes)

    def step(self, rows):
        self.copy()
        super().step(rows)
        device.item(device.scalar)  # the loss, once a step


class Ahead(Loop):
    """Copies the next batch beside the kernels of this one, which take less time."""

    def __init__(self, floats):
        super().__init__(net=device.Net(ms=4))
        os.environ["FAKE_CUDA_COPY_NS_PER_KIB"] = "10000"
        self.bytes = 4 * floats
        self.target = device.device_memory(self.bytes)
        self.source = device.pinned_memory(self.bytes)
        self.copy()

    def copy(self):
        device.copy_beside(self.target, self.source, self.bytes)

    def step(self, rows):
        device.await_copy()
        self.copy()
        super().step(rows)
        device.item(device.scalar)  # the loss, once a step


class Net(device.Net):
    def forward(self, rows):
        self.between()
        return super().forward(rows)


class Within(Loop):
    """Something between the kernels of a step."""

    def __init__(self, between, times, kernels=10, ns=200_000):
        super().__init__(net=Net(ms=4))
        self.between, self.times, self.kernels, self.ns = between, times, kernels, ns

    def step(self, rows):
        self.net.between = self.run
        super().step(rows)

    def run(self):
        for _ in range(self.times):
            device.launch(self.ns, self.kernels)
            self.between()


def read_back():
    if not IS_AFTER:
        device.item(device.scalar)
    time.sleep(0.002)


def buffer_again():
    global buffer
    if not IS_AFTER:
        device.free_memory(buffer)
        buffer = device.device_memory(1 << 20)
    time.sleep(0.002)


def one_more_buffer():
    """The device may have work meanwhile."""
    if not IS_AFTER:
        more.append(device.device_memory(1 << 10))


class Growing(Within):
    def step(self, rows):
        super().step(rows)
        device.item(device.scalar)  # the loss, once a step


def growing():
    os.environ["FAKE_CUDA_MALLOC_NS"] = "2000000"
    return Growing(one_more_buffer, 10, kernels=1)


buffer, more = device.device_memory(1 << 20), []
MADE = {
    "pin_memory": lambda: Copied(IS_AFTER),
    "pinned_copies": lambda: Copied(IS_AFTER),
    "smaller_copies": lambda: Copied(True, FLOATS // 4 if IS_AFTER else FLOATS),
    "sync_line": lambda: Within(read_back, 10),
    "fewer_syncs": lambda: Within(read_back, 10),
    "no_syncs": lambda: Within(read_back, 10),
    "keep_memory": lambda: Within(buffer_again, 10),
    "keep_open_memory": growing,
    "fewer_bytes": lambda: Ahead(FLOATS // 32 if IS_AFTER else FLOATS // 8),
    "cuda_graphs": lambda: Within(lambda: None, 1200 if IS_AFTER else 12000, 1, 0),
}

if __name__ == "__main__":
    MADE[CASE]().fit([DataLoader(Rows(2 * STEPS, width=64), batch_size=2)])
