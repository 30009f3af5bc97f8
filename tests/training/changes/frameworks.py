# SPDX-License-Identifier: Apache-2.0
"""Programs of other frameworks than PyTorch. Batches sleep, so that they need no core;
those of unseen_batches compute.

    frameworks.py CASE before|after
"""

import json
import sys
import time

CASE, IS_AFTER = sys.argv[1], sys.argv[2] == "after"
STEPS, FIRST, BATCH_S = 60, 5, 0.02
made = []  # ns


class Clock:
    """The time of a step: all of them, and those after the first FIRST, which compile."""

    def __init__(self):
        self.number, self.began, self.steady = 0, time.perf_counter_ns(), 0

    def step(self):
        self.number += 1
        if self.number == FIRST:
            self.steady = time.perf_counter_ns()

    def show(self):
        end = time.perf_counter_ns()
        told = {"all_ns": (end - self.began) / self.number}
        told["steady_ns"] = (end - self.steady) / (self.number - FIRST)
        print(json.dumps(told | {"made_ns": sum(made)}), flush=True)


def other_loader():
    """JAX takes batches of Grain, which makes each when it is asked, or ahead in threads."""
    import grain
    import jax
    import numpy

    def make(index):
        time.sleep(BATCH_S / 4)
        return numpy.ones(64, "float32")

    options = grain.ReadOptions(*((8, 32) if IS_AFTER else (0, 0)))
    rows = grain.MapDataset.range(4 * STEPS).map(make)
    step = jax.jit(lambda w, x: w - 0.1 * jax.grad(lambda w: ((x @ w) ** 2).mean())(w))
    clock = Clock()
    weights = step(numpy.zeros((64, 8), "float32"), numpy.ones((4, 64), "float32"))
    for batch in rows.to_iter_dataset(options).batch(4):
        weights = step(weights, batch)
        weights.block_until_ready()
        time.sleep(0.010)
        clock.step()
    clock.show()


def spend(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def make_batch(index):
    import numpy

    began = time.perf_counter_ns()
    if CASE == "unseen_batches":
        spend(BATCH_S)
    else:
        time.sleep(BATCH_S)
    made.append(time.perf_counter_ns() - began)
    return numpy.ones((32, 64), "float32")


def fit():
    """Keras on TensorFlow asks for batches inside of a step's call."""
    import os

    os.environ["KERAS_BACKEND"] = "tensorflow"
    import keras
    import numpy

    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return STEPS

        def __getitem__(self, index):
            rows = make_batch(index)
            return rows, numpy.ones((32, 1), "float32")

    model = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    clock = Clock()
    told = keras.callbacks.LambdaCallback(on_train_batch_end=lambda *_, **__: clock.step())
    model.fit(Batches(), verbose=0, callbacks=[told], shuffle=False)
    clock.show()


if __name__ == "__main__":
    other_loader() if CASE == "other_loader" else fit()
