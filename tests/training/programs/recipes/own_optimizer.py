# SPDX-License-Identifier: Apache-2.0
"""An optimizer of the program's own orthogonalises each gradient: it is most of a step."""

import timers as own
import torch
from small import mlp
from torch.nn import functional as F

torch.set_num_threads(1)


class Orthogonal(torch.optim.Optimizer):
    def __init__(self, weights):
        super().__init__(weights, {"lr": 0.02})

    @torch.no_grad()
    def step(self):
        for weight in self.param_groups[0]["params"]:
            x = weight.grad / (weight.grad.norm() + 1e-7)
            for _ in range(5):
                a = x @ x.T
                x = 3.4445 * x + (2.0315 * a @ a - 4.7750 * a) @ x
            weight.add_(x, alpha=-self.param_groups[0]["lr"])


net = mlp(256, 10, width=256)
matrices = [weight for weight in net.parameters() if weight.ndim == 2]
others = [weight for weight in net.parameters() if weight.ndim != 2]
optimizers = [Orthogonal(matrices), torch.optim.AdamW(others)]
for _ in range(60):
    x, y = torch.randn(16, 256), torch.randint(0, 10, (16,))
    with own.row("forward"):
        logits = net(x)
    with own.row("loss"):
        loss = F.cross_entropy(logits, y)
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        for optimizer in optimizers:
            optimizer.step()
    with own.row("zero_grad"):
        net.zero_grad()
    own.step()
own.show(epochs=None, denies=["make the model cheaper"])
