# SPDX-License-Identifier: Apache-2.0
"""Layers of plain JAX, with one compiled update, fed by PyTorch's DataLoader."""

import jax
import jax.numpy as jnp
import numpy as np
from own import Own, digits
from torch.utils.data import DataLoader, Dataset

SIZES = [784, 128, 10]


class Digits(Dataset):
    def __init__(self, count, seed):
        self.images, self.labels = digits(count, seed=seed)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return np.ravel(self.images[index]), self.labels[index]


def stacked(rows):
    images, labels = zip(*rows)
    return np.stack(images), np.array(labels)


def predict(params, images):
    out = images
    for w, b in params[:-1]:
        out = jax.nn.relu(out @ w + b)
    w, b = params[-1]
    return jax.nn.log_softmax(out @ w + b)


def loss_of(params, images, wanted):
    return -jnp.mean(predict(params, images) * wanted)


@jax.jit
def update(params, images, wanted):
    gradients = jax.grad(loss_of)(params, images, wanted)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients)


@jax.jit
def accuracy(params, images, labels):
    return jnp.mean(jnp.argmax(predict(params, images), -1) == labels)


def main():
    own, keys = Own(), jax.random.split(jax.random.key(0), len(SIZES))
    pairs = zip(keys, SIZES, SIZES[1:])
    params = [(0.01 * jax.random.normal(key, (n, m)), jnp.zeros(m)) for key, n, m in pairs]
    loader = DataLoader(Digits(3200, 0), batch_size=32, shuffle=True, collate_fn=stacked)
    test = Digits(320, 1)
    for _ in range(2):
        for images, labels in own.batches(loader):
            params = update(params, images, jax.nn.one_hot(labels, 10))
            own.step()
        print(accuracy(params, test.images.reshape(-1, 784), test.labels))
    own.tell()


main()
