# SPDX-License-Identifier: Apache-2.0
"""A convolutional net of Flax's Linen with a TrainState: one function gives gradients and also
evaluates, another applies them. Batches are indices into arrays."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state
from own import Own, digits

BATCH, EPOCHS = 32, 2


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(features=8, kernel_size=(3, 3))(x))
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        return nn.Dense(features=10)(nn.relu(nn.Dense(features=32)(x)))


@jax.jit
def apply_model(state, images, labels):
    def loss_of(params):
        logits = state.apply_fn({"params": params}, images)
        wanted = jax.nn.one_hot(labels, 10)
        return jnp.mean(optax.softmax_cross_entropy(logits=logits, labels=wanted)), logits

    (loss, logits), gradients = jax.value_and_grad(loss_of, has_aux=True)(state.params)
    return gradients, loss, jnp.mean(jnp.argmax(logits, -1) == labels)


@jax.jit
def update_model(state, gradients):
    return state.apply_gradients(grads=gradients)


def state_of(key):
    net = Net()
    params = net.init(key, jnp.ones([1, 28, 28, 1]))["params"]
    descent = optax.sgd(0.01, 0.9)
    return train_state.TrainState.create(apply_fn=net.apply, params=params, tx=descent)


def main():
    own, rng = Own(), np.random.default_rng(0)
    (images, labels), (test_images, test_labels) = digits(1600), digits(320, seed=1)
    state = state_of(jax.random.key(0))
    own.begin()
    for _ in range(EPOCHS):
        losses = []
        for chosen in rng.permutation(len(images)).reshape(-1, BATCH):
            gradients, loss, _ = apply_model(state, images[chosen], labels[chosen])
            state = update_model(state, gradients)
            losses.append(loss)
            own.step()
        _, test_loss, accuracy = apply_model(state, test_images, test_labels)
        print(np.mean(losses), float(test_loss), float(accuracy))
    own.tell()


main()
