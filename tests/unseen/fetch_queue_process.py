# SPDX-License-Identifier: Apache-2.0
"""A process of the program's own parses CSV and sends batches through a small queue."""

import csv, io, multiprocessing, random, torch, watched as own
from sets import mlp

text = "\n".join(",".join(str(random.random()) for _ in range(200)) for _ in range(64))


def produce(queue):
    while True:
        queue.put([[float(v) for v in row] for row in csv.reader(io.StringIO(text))])


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    queue = context.Queue(2)
    context.Process(target=produce, args=(queue,), daemon=True).start()
    net = mlp(200, 256, 1)
    opt = torch.optim.Adam(net.parameters())
    for step in range(400):
        with own.row("own_input"):
            x = queue.get()
        with own.row("own_update"):
            x = torch.tensor(x)
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
        own.step()
    own.show(epochs=None)
