# SPDX-License-Identifier: Apache-2.0
"""A model of JAX, and the loop around it."""

import os

import jax
import jax.numpy as jnp
import orbax.checkpoint
import samples

WIDTH, LAYERS = 512, 6


@jax.jit
def step(weights, rows):
    def loss_of(weights):
        out = rows
        for one in weights:
            out = jnp.tanh(out @ one)
        return jnp.mean(out**2)

    loss, gradients = jax.value_and_grad(loss_of)(weights)
    return jax.tree.map(lambda one, down: one - 0.01 * down, weights, gradients), loss


def weights_of(fault):
    """A healthy model's time is its own; that of a fault is small."""
    width, layers = (4 * WIDTH, LAYERS) if fault == "healthy" else (WIDTH, 2)
    sizes = [samples.FLOATS] + [width] * layers
    return [0.01 * jnp.ones(pair) for pair in zip(sizes, sizes[1:])]


def train(folder, fault, loader_of):
    """loader_of(): a new loader for each epoch, as many trainers make it."""
    loop, weights = samples.Loop(), weights_of(fault)
    saver = orbax.checkpoint.StandardCheckpointer()
    for _ in range(samples.epochs(fault)):
        for rows in loop.batches(loader_of()):
            weights, loss = step(weights, jnp.asarray(rows))
            if fault == "checkpoint_each_step":
                saver.save(os.path.join(folder, "model"), weights, force=True)
                saver.wait_until_finished()
            elif loop.steps % 8 == 0:
                float(loss)
    return loop.steps, loop.waited_ns, loop.begun_ns
