# SPDX-License-Identifier: Apache-2.0
"""backward_program.py FILE: trains some models, each inside of a label of its name, under PyTorch's
own profiler, which writes FILE."""

import sys

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

STEPS = 4


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * 2


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(3, 8, 3),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3),
            nn.ReLU(),
        )
        self.attention = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.out = nn.Linear(8, 5)

    def forward(self, pictures):
        rows = self.convolutions(pictures * 2 - 1).flatten(2).transpose(1, 2)
        return self.out(Scale.apply(self.attention(rows)).mean(1))


def descent(model):
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def small():
    return nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 6))


def pictures():
    """Two backwards a step, and a check of the result between them."""
    model = Pictures()
    optimizer = descent(model)
    for _ in range(STEPS):
        for _ in range(2):
            labels = torch.randint(0, 5, (4,))
            scores = model(torch.rand(4, 3, 16, 16))
            functional.cross_entropy(scores, labels).backward()
            (scores.detach().argmax(1) == labels).float().mean()
        optimizer.step()
        optimizer.zero_grad()


def adversaries():
    """The maker's forward comes before the judge's backward, and has its own after that."""
    maker, judge = small(), small()
    optimizers = descent(maker), descent(judge)
    for _ in range(STEPS):
        made = maker(torch.randn(4, 6))
        (judge(torch.randn(4, 6)).mean() - judge(made.detach()).mean()).backward()
        optimizers[1].step()
        optimizers[1].zero_grad()
        (-judge(made)).mean().backward()
        optimizers[0].step()
        optimizers[0].zero_grad()
        judge.zero_grad()


def penalty():
    """Gradients of gradients: nodes run twice, and operators inside of nodes make nodes."""
    model = small()
    optimizer = descent(model)
    for _ in range(STEPS):
        rows = torch.randn(4, 6, requires_grad=True)
        value = model(rows).square().sum()
        (gradient,) = torch.autograd.grad(value, rows, create_graph=True)
        (value + gradient.square().sum()).backward()
        optimizer.step()
        optimizer.zero_grad()


def recompute(reentrant=False):
    model, head = small(), nn.Linear(6, 1)
    optimizer = descent(nn.ModuleList([model, head]))
    for _ in range(STEPS):
        rows = torch.randn(4, 6, requires_grad=True)
        head(checkpoint(model, rows, use_reentrant=reentrant)).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def branches():
    """A branch that has no backward, one that is used twice, and a teacher without gradients."""
    first, second, teacher = small(), small(), small()
    optimizer = descent(nn.ModuleList([first, second]))
    for step in range(STEPS):
        rows = torch.randn(4, 6)
        with torch.no_grad():
            target = teacher(rows)
        shared = first(rows)
        unused = second(rows)
        loss = (second(shared) - target).square().mean() + (shared * shared.detach()).mean()
        if step % 2:
            loss = loss + unused.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def recompute_inside():
    recompute(True)


def main(path):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with torch.profiler.profile() as profiler:
        for program in (pictures, adversaries, penalty, recompute, recompute_inside, branches):
            with torch.profiler.record_function(program.__name__):
                program()
    profiler.export_chrome_trace(path)


main(sys.argv[1])
