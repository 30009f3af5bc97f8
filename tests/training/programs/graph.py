# SPDX-License-Identifier: Apache-2.0
"""A graph network on the whole graph: an epoch is a step, and each is evaluated."""

import timers as own
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)


class Gcn(nn.Module):
    def __init__(self, inputs, width, classes):
        super().__init__()
        self.first, self.second = nn.Linear(inputs, width), nn.Linear(width, classes)
        self.drop = nn.Dropout(0.5)

    def forward(self, x, edges):
        x = torch.relu(edges @ self.first(x))
        return edges @ self.second(self.drop(x))


nodes = 4000
at = torch.randint(0, nodes, (2, 40000))
edges = torch.sparse_coo_tensor(at, torch.ones(40000) / 10, (nodes, nodes)).coalesce()
x, y = torch.randn(nodes, 256), torch.randint(0, 7, (nodes,))
mask = torch.rand(nodes) < 0.3
net = Gcn(256, 64, 7)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)


def train():
    net.train()
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("forward"):
        out = net(x, edges)
    with own.row("loss"):
        loss = nn.functional.cross_entropy(out[mask], y[mask])
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()


@torch.no_grad()
def test():
    net.eval()
    told = net(x, edges).argmax(1)
    return [(told[part] == y[part]).float().mean().item() for part in (mask, ~mask)]


for epoch in range(40):
    train()
    with own.row("evaluation"):
        test()
own.show(epochs=None)
