# SPDX-License-Identifier: Apache-2.0
"""One of ten training loops, by its name; prints the seconds of its validations. With a library of
kernels (tests/cuda/gpu_kernels.c) as the second argument each part of a step launches some."""

import ctypes
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
DATA = TensorDataset(torch.randn(480, 128))
KERNEL_NS = 1000
FORWARD, BACKWARD, OPTIMIZER = range(3)
validated = 0.0
gpu = ctypes.CDLL(sys.argv[2]) if len(sys.argv) > 2 else None
if gpu:
    gpu.gpu_launch.argtypes = [ctypes.c_int, ctypes.c_uint64]


def launch(kernel):
    if gpu:
        gpu.gpu_launch(kernel, KERNEL_NS)


class Launches(nn.Module):
    def forward(self, x):
        launch(FORWARD)
        if x.requires_grad:
            x.register_hook(lambda gradient: launch(BACKWARD))
        return x


def layers(width):
    return nn.Sequential(nn.Linear(128, width), Launches(), nn.ReLU(), nn.Linear(width, 128))


def loader(size=16, **options):
    return DataLoader(DATA, batch_size=size, **options)


def work(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(1000))


def step(model, optimizer, x, aim=None):
    optimizer.zero_grad()
    ((model(x) - (x if aim is None else aim)) ** 2).mean().backward()
    optimizer.step()
    launch(OPTIMIZER)  # by the loop's own code


def validate(model, batches, **without):
    global validated
    begin = time.perf_counter()
    with torch.no_grad() if not without else torch.enable_grad():
        for (x,) in batches:
            ((model(x) - x) ** 2).mean().item()
    validated += time.perf_counter() - begin


def plain(model, optimizer):
    for (x,) in loader():
        step(model, optimizer, x)


def distillation(model, optimizer):
    teacher = layers(1024)
    for _ in range(2):
        for (x,) in loader():
            with torch.no_grad():
                aim = teacher(x)
            step(model, optimizer, x, aim)


def validation(model, optimizer):
    for _ in range(3):
        plain(model, optimizer)
        validate(model, loader(64))


def neighbours(model, optimizer):
    """A pass for the mean, a model that takes long to make, code between validations."""
    sum(x.mean() for (x,) in loader())
    work(0.3)
    layers(64)(torch.zeros(1, 128))
    work(0.3)
    validate(model, loader(64))
    for _ in range(2):
        plain(model, optimizer)
        validate(model, loader(64), gradients=True)
    work(0.5)
    validate(model, loader(64))


def early(model, optimizer):
    """A validation that is left early, each ten steps."""
    for i, (x,) in enumerate(loader()):
        step(model, optimizer, x)
        if i % 10 == 9:
            validate(model, [next(iter(loader(64)))])


def accumulation(model, optimizer):
    for i, (x,) in enumerate(loader()):
        ((model(x) - x) ** 2).mean().backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()


def two_optimizers(model, optimizer):
    other = layers(64)
    second = torch.optim.SGD(other.parameters(), lr=0.01)
    for (x,) in loader():
        with torch.no_grad():
            made = other(x)
        step(model, optimizer, made)
        step(other, second, x)


def saves(model, optimizer):
    for _ in range(2):
        plain(model, optimizer)
        torch.save(model.state_dict(), "weights.pt")
        model.load_state_dict(torch.load("weights.pt"))


def workers(model, optimizer):
    for _ in range(2):
        for (x,) in loader(num_workers=2):
            step(model, optimizer, x)
        validate(model, loader(64, num_workers=1))


def own_batches(model, optimizer):
    """No loader, and code of the loop's own."""
    for i in range(40):
        x = torch.randn(16, 128)
        step(model, optimizer, x)
        work(0.002)
        if i % 20 == 19:
            with torch.no_grad():
                model(x)


LOOPS = (
    plain,
    distillation,
    validation,
    neighbours,
    early,
    accumulation,
    two_optimizers,
    saves,
    workers,
    own_batches,
)

if __name__ == "__main__":
    loop = {each.__name__: each for each in LOOPS}[sys.argv[1]]
    trained = layers(512)
    loop(trained, torch.optim.SGD(trained.parameters(), lr=0.01))
    print(validated)
