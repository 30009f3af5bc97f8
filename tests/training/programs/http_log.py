# SPDX-License-Identifier: Apache-2.0
"""Batches in memory; a metric goes to a server by HTTP each step, ahead of forward or backward."""

import json
import time

import timers as own
import torch
from http_server import Handler, connection_to
from small import ConvNet


class Slow(Handler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.02)
        self.answer(b"ok")


def send(connection, number, loss):
    body = json.dumps({"step": number, "loss": loss, "run": "a" * 400})
    connection.request("POST", "/log", body, {"Content-Type": "application/json"})
    connection.getresponse().read()


def train(connection):
    images, labels = torch.randn(640, 3, 32, 32), torch.arange(640) % 10
    net = ConvNet()
    optimizer = torch.optim.Adam(net.parameters())
    last = 0.0
    for number in range(60):
        at = number % 40 * 16
        if number % 2:
            with own.row("own_message"):
                send(connection, number, last)
        with own.row("forward"):
            out = net(images[at : at + 16])
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, labels[at : at + 16])
            last = loss.item()
            if number % 2 == 0:
                with own.row("own_message"):
                    send(connection, number, last)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()


if __name__ == "__main__":
    with connection_to(Slow) as connection:
        train(connection)
    own.show(epochs=None)
