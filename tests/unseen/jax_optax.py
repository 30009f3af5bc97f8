# SPDX-License-Identifier: Apache-2.0
"""A step that jax.jit compiles, batches of numpy made in the loop by a slow augmentation."""

import json, time, jax, jax.numpy as jnp, numpy as np, optax
from sets import noise

t0 = time.perf_counter()
rng = np.random.default_rng(0)
images = noise(512, 32, 32)
w = {"a": jnp.array(noise(1024, 128)) * 0.02, "b": jnp.array(noise(128, 1)) * 0.1}
opt = optax.adam(1e-3)
state = opt.init(w)


def augment(index):
    out = []
    for i in index:
        im = images[i]
        for _ in range(6):
            im = np.roll(im, rng.integers(-3, 3), axis=rng.integers(0, 2))
            im = im + 0.1 * rng.standard_normal(im.shape, dtype="f4")
        out.append(im.ravel())
    return np.stack(out)


@jax.jit
def train_step(w, state, x):
    loss = lambda w: jnp.mean((jnp.tanh(x @ w["a"]) @ w["b"]) ** 2)
    value, g = jax.value_and_grad(loss)(w)
    up, state = opt.update(g, state)
    return optax.apply_updates(w, up), state, value


made = stepped = 0.0
for n in range(300):
    a = time.perf_counter()
    x = augment(rng.integers(0, 512, 64))
    b = time.perf_counter()
    w, state, value = train_step(w, state, x)
    float(value)
    made, stepped = made + b - a, stepped + time.perf_counter() - b
print("made %.2f s, stepped %.2f s" % (made, stepped), flush=True)
print(
    json.dumps(
        {
            "rows": {},
            "firsts": [],
            "steps": 300,
            "epochs": None,
            "core_waits": {},
            "span": int(1e9 * (made + stepped)),
            "why": ["input-bound", "loop-bound"],
        }
    ),
    flush=True,
)
