# SPDX-License-Identifier: Apache-2.0
"""Batches of graphs by the loader of torch_geometric, convolution and pooling."""

import timers as own
import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

torch.set_num_threads(1)
torch.manual_seed(0)


class Gcn(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(16, 64), GCNConv(64, 64)
        self.out = torch.nn.Linear(64, 3)

    def forward(self, x, edges, batch):
        x = self.first(x, edges).relu()
        x = self.second(x, edges).relu()
        return self.out(global_mean_pool(x, batch))


def graph(label):
    return Data(x=torch.randn(30, 16), edge_index=torch.randint(0, 30, (2, 90)), y=label)


graphs = [graph(i % 3) for i in range(960)]
train = DataLoader(graphs[:768], batch_size=32, shuffle=True)
valid = DataLoader(graphs[768:], batch_size=32)
net = Gcn()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in own.epochs(3):
    net.train()
    for data in own.batches(train):
        with own.row("forward"):
            out = net(data.x, data.edge_index, data.batch)
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, data.y)
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        with own.row("zero_grad"):
            optimizer.zero_grad()
        own.step()
    net.eval()
    with own.row("validation"), torch.no_grad():
        for data in valid:
            net(data.x, data.edge_index, data.batch)
own.show()
