# SPDX-License-Identifier: Apache-2.0
"""Models whose modules are called in uncommon ways: activation checkpointing, and forward() by
name. Prints the number of steps of each."""

import torch
from torch.utils.checkpoint import checkpoint

STEPS = 5


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(16)
        self.mix = torch.nn.Linear(16, 16)

    def forward(self, x):
        return x + self.mix(self.norm(x))


class Checkpointed(torch.nn.Module):
    reentrant = False

    def __init__(self):
        super().__init__()
        self.inlet = torch.nn.Linear(16, 16)
        self.blocks = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x):
        x = self.inlet(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=self.reentrant)
        return x


class Reentrant(Checkpointed):
    reentrant = True


class Parts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU())
        self.decoder = torch.nn.Linear(16, 1)

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Two(torch.nn.Module):
    """Returns a tuple with a dict in it."""

    def __init__(self):
        super().__init__()
        self.later = torch.nn.Linear(16, 2)
        self.sooner = torch.nn.Linear(16, 1)

    def forward(self, x):
        first = self.sooner(x)
        return first, {"more": self.later(x)}


def train(model, forward):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        # A loss that lives for one call is in no model.
        loss = torch.nn.MSELoss()(forward(torch.randn(4, 16)), torch.zeros(4, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    for kind in (Checkpointed, Reentrant):
        model = kind()
        train(model, lambda x, model=model: model(x).sum(1, keepdim=True))
    model = Parts()
    train(model, model.forward)
    model = Two()
    train(model, lambda x: model(x)[0])
    print(STEPS)


if __name__ == "__main__":
    main()
