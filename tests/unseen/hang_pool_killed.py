# SPDX-License-Identifier: Apache-2.0
"""A process of a Pool is killed while it makes a batch, and the Pool waits for ever."""

import multiprocessing, os, signal, sys, torch, watched as own
from sets import mlp


def make(n):
    if n == 60:
        os.kill(os.getpid(), signal.SIGKILL)
    return torch.randn(64, 256).numpy()


if __name__ == "__main__":
    pool = multiprocessing.get_context("fork").Pool(2)
    net = mlp(256, 512, 1)
    opt = torch.optim.SGD(net.parameters(), 0.1)
    try:
        for n in range(100):
            if n == 60:
                own.show(epochs=None, why=["hung"])
            with own.row("own_input"):
                x = torch.from_numpy(pool.apply(make, (n,)))
            opt.zero_grad()
            net(x).mean().backward()
            opt.step()
            own.step()
    except KeyboardInterrupt:
        sys.exit(1)
