# SPDX-License-Identifier: Apache-2.0
"""A model whose forward asks another process for a part of its result."""

import multiprocessing
import socket
import time

import timers as own
import torch
from small import Images, mlp, timed_step
from torch.utils.data import DataLoader


def serve(listening):
    connection, _ = listening.accept()
    while connection.recv(1):
        time.sleep(0.03)
        connection.sendall(b"x")


class Net(torch.nn.Module):
    def __init__(self, address):
        super().__init__()
        self.body = mlp(3 * 32 * 32, 10)
        self.service = socket.create_connection(address)

    def forward(self, images):
        self.service.sendall(b"x")
        self.service.recv(1)
        return self.body(images.flatten(1))


listening = socket.create_server(("127.0.0.1", 0))
context = multiprocessing.get_context("fork")
server = context.Process(target=serve, args=(listening,), daemon=True)
server.start()
net = Net(listening.getsockname())
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in own.epochs(2):
    for images, labels in own.batches(DataLoader(Images(25 * 16), batch_size=16)):
        timed_step(net, optimizer, images, labels)
own.show()
