# SPDX-License-Identifier: Apache-2.0
"""Batches of ever other length make jax.jit compile in each step."""

import json, time, jax, jax.numpy as jnp, optax
from sets import noise

w = {"a": jnp.array(noise(64, 64)) * 0.1, "b": jnp.zeros((64, 1))}
opt = optax.adam(1e-3)
state = opt.init(w)


@jax.jit
def train_step(w, state, x):
    loss = lambda w: jnp.mean((jnp.tanh(x @ w["a"]) @ w["b"] - 1) ** 2)
    value, g = jax.value_and_grad(loss)(w)
    up, state = opt.update(g, state)
    return optax.apply_updates(w, up), state, value


begin = time.perf_counter()
for n in range(30):
    w, state, value = train_step(w, state, noise(20 + n, 64))
    float(value)
span = int(1e9 * (time.perf_counter() - begin))
truth = {"rows": {}, "firsts": [], "steps": 30, "epochs": None, "core_waits": {}, "span": span}
print(json.dumps({**truth, "why": ["compile-bound"]}), flush=True)
