# SPDX-License-Identifier: Apache-2.0
"""Trains on samples that a server sends over HTTP.

MODE: "loop", the training thread asks for each batch itself; "workers", a DataLoader's workers ask;
URL: the server.
Prints the steps and, from its own timers, the ns in requests and the bytes of their answers.
"""

import os
import time
import urllib.request

import torch

STEPS, ROWS, WIDTH = 30, 64, 4096
BYTES = 4 * ROWS * WIDTH
mode, url = os.environ["MODE"], os.environ["URL"]
asked_ns = asked_bytes = 0


def ask(body=None):
    global asked_ns, asked_bytes
    begin = time.monotonic_ns()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/{BYTES}", body)) as answer:
        data = bytearray(answer.read())
    asked_ns += time.monotonic_ns() - begin
    asked_bytes += len(data)
    return torch.frombuffer(data, dtype=torch.uint8).view(torch.float32).view(ROWS, WIDTH)


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        for _ in range(STEPS // 2):
            yield ask()
        with open(f"asked-{os.getpid()}", "w") as file:
            print(asked_ns, asked_bytes, file=file)


def batches():
    if mode == "workers":
        yield from torch.utils.data.DataLoader(Stream(), batch_size=None, num_workers=2)
        return
    for _ in range(STEPS):
        yield ask() if mode == "loop" else torch.zeros(ROWS, WIDTH)


torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(WIDTH, 64), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
steps = 0
for rows in batches():
    optimizer.zero_grad()
    net(rows).sum().backward()
    optimizer.step()
    steps += 1
print(steps, asked_ns, asked_bytes)
