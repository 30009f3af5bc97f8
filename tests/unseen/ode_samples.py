# SPDX-License-Identifier: Apache-2.0
"""Samples are simulated by SciPy's solver while training goes on, in one worker."""

import numpy as np, torch, watched as own
from scipy.integrate import solve_ivp
from sets import mlp
from torch.utils.data import DataLoader, Dataset


class Pendulum(Dataset):
    def __len__(self):
        return 960

    def __getitem__(self, i):
        at = np.random.default_rng(i).uniform(-1, 1, 2)
        times = np.linspace(0, 3, 64)
        y = solve_ivp(lambda t, s: [s[1], -9.8 * np.sin(s[0])], (0, 3), at, t_eval=times).y
        return torch.from_numpy(y.astype("f4")).flatten()


net = mlp(128, 256, 128)
opt = torch.optim.Adam(net.parameters())
for x in DataLoader(Pendulum(), 16, num_workers=1):
    opt.zero_grad()
    (net(x) - x).square().mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
