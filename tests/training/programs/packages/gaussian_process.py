# SPDX-License-Identifier: Apache-2.0
"""An exact Gaussian process of gpytorch: all data at once, a step is an epoch."""

import gpytorch
import timers as own
import torch

torch.set_num_threads(1)
x = torch.linspace(0, 1, 400)
y = torch.sin(6 * x) + 0.1 * torch.randn(400)


class Exact(gpytorch.models.ExactGP):
    def __init__(self, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def __call__(self, rows):
        with own.row("forward"):
            return super().__call__(rows)

    def forward(self, rows):
        return gpytorch.distributions.MultivariateNormal(self.mean(rows), self.kernel(rows))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
net = Exact(likelihood)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, net)
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
net.train()
likelihood.train()
for _ in range(50):
    with own.row("zero_grad"):
        optimizer.zero_grad()
    out = net(x)
    with own.row("loss"):
        loss = -objective(out, y)
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()
own.show(epochs=None)
