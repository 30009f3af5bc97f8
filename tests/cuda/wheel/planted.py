# SPDX-License-Identifier: Apache-2.0
"""planted.py NAME: a trainer on CUDA with one known property."""

import sys
import time

import torch
from torch import nn

STEPS = 60


def deep(width=64, layers=20):
    blocks = [nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(layers)]
    return nn.Sequential(*blocks)


def loop(model, batches, after=None):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        if after:
            after(loss)


def repeated(x, count=STEPS):
    for _ in range(count):
        yield x


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, i):
        time.sleep(0.02)
        return torch.full((64,), float(i))


def resident():
    """All work is the device's, where it is slow; the host's, where it is fast."""
    loop(deep().cuda(), repeated(torch.randn(32, 64, device="cuda")))


def slow_loader():
    loader = torch.utils.data.DataLoader(Slow(), 1, num_workers=1)
    loop(deep(layers=2).cuda(), (x.cuda() for x in loader))


def long_setup():
    """The device idles for a second before training, after the sync of .to()."""
    model = deep().to("cuda")
    torch.cuda.synchronize()
    time.sleep(1)
    loop(model, repeated(torch.randn(32, 64, device="cuda")), lambda loss: loss.item())


def graph_replays():
    """Three steps of warm-up and a capture, then 30 replays, which are the steps."""
    model, x = deep(layers=2).cuda(), torch.randn(32, 64, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        loop(model, repeated(x, 3))
    torch.cuda.current_stream().wait_stream(side)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad()
    with torch.cuda.graph(graph):
        model(x).sum().backward()
        optimizer.step()
    for _ in range(30):
        graph.replay()


def zeroed_late():
    """zero_grad stands between forward and backward, which is a common order."""
    model = deep(layers=2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.randn(32, 64, device="cuda")
    for _ in range(STEPS):
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    torch.cuda.synchronize()
