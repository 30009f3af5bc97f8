# SPDX-License-Identifier: Apache-2.0
"""No hang: after training the program computes statistics for long, and Ctrl-C ends it."""

import sys, torch, watched as own
from sets import mlp

net = mlp(256, 1024, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for n in range(400):
    x = torch.randn(64, 256)
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=None, loose=["forward"], why=["compute-bound", "loop-bound", "cannot-tell"])
try:
    while True:
        torch.linalg.svd(torch.randn(300, 300))
except KeyboardInterrupt:
    sys.exit(1)
