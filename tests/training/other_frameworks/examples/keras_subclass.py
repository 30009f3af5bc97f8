# SPDX-License-Identifier: Apache-2.0
"""A subclassed model of Keras on a backend's own loader: a loop with train_on_batch, and the
learning rate lowered by hand."""

import keras
import numpy as np
from keras_loop import between_updates
from own import Own, table


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [keras.layers.Dense(256, activation="relu") for _ in range(3)]
        self.out = keras.layers.Dense(1, activation="sigmoid")

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)


def loader_of(x, y):
    if keras.backend.backend() == "torch":
        import torch

        rows = torch.utils.data.TensorDataset(torch.tensor(x), torch.tensor(y))
        return torch.utils.data.DataLoader(rows, batch_size=32, shuffle=True)
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512).batch(32)


def main():
    own = Own()
    x, y = (np.asarray(each, "float32") for each in table(3200))
    loader, model = loader_of(x, y[:, None]), Net()
    descent = between_updates(own, model, keras.optimizers.SGD(0.01))
    model.compile(loss="binary_crossentropy", optimizer=descent)
    for _ in range(2):
        for rows, labels in own.batches(loader):
            model.train_on_batch(np.asarray(rows), np.asarray(labels))
            own.step()
        model.optimizer.learning_rate = 0.5 * float(model.optimizer.learning_rate)
        print(model.evaluate(x[:320], y[:320, None], verbose=0))
    own.tell()


main()
