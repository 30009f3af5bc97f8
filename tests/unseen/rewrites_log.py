# SPDX-License-Identifier: Apache-2.0
"""Without a loader: writes the whole history as JSON after each step."""

import json, torch, watched as own
from sets import mlp, path

net = mlp(64, 128, 1)
opt = torch.optim.Adam(net.parameters())
history = []
for epoch in range(2):
    for x in torch.randn(6400, 64).split(16):
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append({"step": len(history), "loss": loss.item(), "lr": 1e-3, "epoch": epoch})
        with open(path("history.json"), "w") as file:
            json.dump(history, file, indent=1)
        own.step()
own.show(epochs=None, why=["loop-bound"], advises="the training thread writes files")
