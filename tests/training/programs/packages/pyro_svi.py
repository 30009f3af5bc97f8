# SPDX-License-Identifier: Apache-2.0
"""Stochastic variational inference by pyro: SVI.step does all of a step."""

import pyro
import timers as own
import torch
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoDiagonalNormal

torch.set_num_threads(1)
x = torch.randn(2000, 32)
y = x @ torch.randn(32)


def model(rows, wanted):
    weights = pyro.sample("weights", pyro.distributions.Normal(torch.zeros(32), 1).to_event(1))
    with pyro.plate("data", len(rows)):
        pyro.sample("y", pyro.distributions.Normal(rows @ weights, 0.1), obs=wanted)


own.patch(torch.Tensor, "backward", "backward")
svi = SVI(model, AutoDiagonalNormal(model), pyro.optim.Adam({"lr": 0.01}), Trace_ELBO())
for _ in range(150):
    with own.row("own_step"):
        svi.step(x, y)
    own.step()
rows = {"backward": own.rows["backward"]}
# Both are true where Python traces a model.
why = ["compute-bound", "loop-bound"]
own.show(epochs=None, rows=rows, loose=["forward", "optimizer"], why=why)
