# SPDX-License-Identifier: Apache-2.0
"""A net of Flax's NNX, fed by tf.data, with an evaluation every 40 steps."""

import jax.numpy as jnp
import optax
import tensorflow as tf
from flax import nnx
from own import Own, digits


class Net(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 8, kernel_size=(3, 3), rngs=rngs)
        self.hidden = nnx.Linear(14 * 14 * 8, 32, rngs=rngs)
        self.out = nnx.Linear(32, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.avg_pool(nnx.relu(self.conv(x)), window_shape=(2, 2), strides=(2, 2))
        return self.out(nnx.relu(self.hidden(x.reshape(x.shape[0], -1))))


def loss_of(model, images, labels):
    logits = model(images)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits=logits, labels=labels).mean()
    return loss, logits


@nnx.jit
def train_step(model, optimizer, images, labels):
    (loss, _), gradients = nnx.value_and_grad(loss_of, has_aux=True)(model, images, labels)
    optimizer.update(model, gradients)
    return loss


@nnx.jit
def eval_step(model, images, labels):
    return loss_of(model, images, labels)[0]


def main():
    own = Own()
    made = tf.data.Dataset.from_tensor_slices(digits(1600))
    train = made.repeat(3).shuffle(512).batch(32, drop_remainder=True).prefetch(1)
    test = tf.data.Dataset.from_tensor_slices(digits(320, seed=1)).batch(32)
    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(0.005, 0.9), wrt=nnx.Param)
    for images, labels in own.batches(train.as_numpy_iterator()):
        loss = train_step(model, optimizer, images, labels)
        own.step()
        if own.steps % 40 == 0:
            losses = [eval_step(model, *batch) for batch in test.as_numpy_iterator()]
            print(own.steps, float(loss), float(jnp.mean(jnp.array(losses))))
    own.tell()


main()
