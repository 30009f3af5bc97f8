# SPDX-License-Identifier: Apache-2.0
"""paddle_sequence.py with timers written into it.

    python3 paddle_sequence_twin.py TIMERS.json
"""

import sys

from paddle import nn

import paddle_sequence as plain
from timers import Timers

timers = Timers("reader|forward|backward|optimizer|clear".split("|"))


def main():
    model, optimizer, loader = plain.make()
    for _ in range(plain.EPOCHS):
        for words, labels in timers.batches(loader, "reader"):
            with timers("forward"):
                loss = nn.functional.cross_entropy(model(words), labels)
            with timers("backward"):
                loss.backward()
            with timers("optimizer"):
                optimizer.step()
            with timers("clear"):
                optimizer.clear_grad()
    timers.write(sys.argv[1])


if __name__ == "__main__":
    main()
