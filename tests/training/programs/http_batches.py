# SPDX-License-Identifier: Apache-2.0
"""Batches that the training thread itself asks a server for, by HTTP; no DataLoader."""

import time

import numpy as np
import timers as own
import torch
from http_server import Handler, connection_to
from small import ConvNet, timed_step


class Batches(Handler):
    def do_GET(self):
        time.sleep(0.02)
        generator = np.random.default_rng(0)
        self.answer(generator.standard_normal((16, 3, 32, 32), dtype=np.float32).tobytes())


def train(connection):
    labels = torch.arange(16) % 10
    net = ConvNet()
    optimizer = torch.optim.Adam(net.parameters())
    for number in range(60):
        with own.row("loader_wait"):
            connection.request("GET", f"/{number}")
            body = bytearray(connection.getresponse().read())
        images = torch.frombuffer(body, dtype=torch.float32).view(16, 3, 32, 32)
        timed_step(net, optimizer, images, labels)


if __name__ == "__main__":
    with connection_to(Batches) as connection:
        train(connection)
    own.show(epochs=None)
