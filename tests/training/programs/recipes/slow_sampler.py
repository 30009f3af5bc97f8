# SPDX-License-Identifier: Apache-2.0
"""Two workers wait for a sampler that draws by changing weights, in the training process."""

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader


class ByLoss:
    """Samples that were hard come again; the draw is over all of a large table."""

    def __init__(self, weights, many, size):
        self.weights, self.many, self.size = weights, many, size

    def __len__(self):
        return self.many

    def __iter__(self):
        for _ in range(self.many):
            self.weights.mul_(0.999)
            order = torch.argsort(self.weights + torch.rand(len(self.weights)))
            chosen = order[: self.size]
            self.weights[chosen] += 1
            yield (chosen % 2000).tolist()


weights = torch.ones(300000)
net = ConvNet(width=12)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loader = DataLoader(Images(2000, size=24), batch_sampler=ByLoss(weights, 100, 16), num_workers=2)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
own.show()
