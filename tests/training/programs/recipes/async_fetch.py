# SPDX-License-Identifier: Apache-2.0
"""Batches by coroutines of an event loop in a thread: the loop waits for their futures."""

import asyncio
import threading

import numpy as np
import timers as own
import torch
from small import ConvNet, timed_step


async def fetch(number):
    await asyncio.sleep(0.03)
    generator = np.random.default_rng(number)
    images = generator.standard_normal((16, 3, 32, 32), dtype=np.float32)
    return torch.from_numpy(images), torch.from_numpy(generator.integers(0, 10, 16))


loop = asyncio.new_event_loop()
thread = threading.Thread(target=loop.run_forever, daemon=True)
thread.start()
net = ConvNet(width=16)
optimizer = torch.optim.Adam(net.parameters())
ahead = asyncio.run_coroutine_threadsafe(fetch(0), loop)
for number in range(50):
    with own.row("loader_wait"):
        images, labels = ahead.result()
    ahead = asyncio.run_coroutine_threadsafe(fetch(number + 1), loop)
    timed_step(net, optimizer, images, labels)
ahead.result()
loop.call_soon_threadsafe(loop.stop)
thread.join()
own.show(epochs=None)
