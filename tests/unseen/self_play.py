# SPDX-License-Identifier: Apache-2.0
"""Self-play: 60 games' moves by the model without gradients, then four steps on them."""

import random, torch, watched as own
from sets import mlp

net = mlp(64, 256, 256, 64)
opt = torch.optim.Adam(net.parameters())
for iteration in range(12):
    games = []
    with own.row("evaluation"):
        for game in range(12):
            board = torch.zeros(64)
            with torch.no_grad():
                for move in range(40):
                    p = torch.softmax(net(board), 0)
                    at = int(torch.multinomial(p, 1))
                    board = board.clone()
                    board[at] = 1 - board[at]
                    legal = [n for n in range(64) if random.random() < 0.5]
                    games.append((board, at, len(legal)))
    for _ in range(4):
        batch = random.sample(games, 64)
        x, y = torch.stack([b[0] for b in batch]), torch.tensor([b[1] for b in batch])
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        own.step()
own.show(epochs=None, loose=["forward", "evaluation"], why=["evaluation-bound"])
