# SPDX-License-Identifier: Apache-2.0
"""Batches come of coroutines that wait for a server; a gather of eight for each step."""

import asyncio, torch, watched as own
from sets import mlp

net = mlp(128, 512, 512, 1)
opt = torch.optim.Adam(net.parameters())


async def fetch(n):
    await asyncio.sleep(0.015)
    return torch.randn(8, 128)


async def main():
    for n in range(250):
        with own.row("own_input"):
            x = torch.cat(await asyncio.gather(*(fetch(k) for k in range(8))))
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        own.step()


asyncio.run(main())
own.show(epochs=None, loose=["loader_wait"])
