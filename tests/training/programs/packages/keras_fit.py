# SPDX-License-Identifier: Apache-2.0
"""fit() of Keras 3 with PyTorch below it."""

import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import timers as own
import torch

torch.set_num_threads(1)
x = np.random.default_rng(0).standard_normal((1280, 128)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int64)
layers = keras.layers
net = keras.Sequential(
    [
        keras.Input((128,)),
        layers.Dense(512, activation="relu"),
        layers.Dense(512, activation="relu"),
        layers.Dense(2),
    ]
)
net.compile(
    optimizer=keras.optimizers.Adam(),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
own.patch(torch.Tensor, "backward", "backward")


class Counter(keras.callbacks.Callback):
    def on_train_batch_end(self, *_args, **_names):
        own.step()

    def on_epoch_begin(self, *_args, **_names):
        own.count["epochs"] += 1


net.fit(x, y, batch_size=32, epochs=2, verbose=0, callbacks=[Counter()])
own.show(loose=["forward", "optimizer", "loader_wait"], epochs=None)
