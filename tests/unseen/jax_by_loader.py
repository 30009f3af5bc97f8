# SPDX-License-Identifier: Apache-2.0
"""A DataLoader of PyTorch feeds a step of JAX; its samples take long."""

import json, time, jax, jax.numpy as jnp, numpy as np
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 3200

    def __getitem__(self, i):
        x = np.random.default_rng(i).standard_normal((64, 64))
        return np.linalg.svd(x, compute_uv=False).astype("f4")


@jax.jit
def train_step(w, x):
    value, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.01 * g, value


w = jnp.ones((64, 64))
rows, begin = {"loader_wait": [0, 0], "step": [0, 0]}, time.perf_counter_ns()
loader = iter(DataLoader(Slow(), 16, collate_fn=np.stack))
while True:
    a = time.perf_counter_ns()
    x = next(loader, None)
    b = time.perf_counter_ns()
    rows["loader_wait"] = [rows["loader_wait"][0] + 1, rows["loader_wait"][1] + b - a]
    if x is None:
        break
    w, value = train_step(w, x)
    float(value)
    rows["step"] = [rows["step"][0] + 1, rows["step"][1] + time.perf_counter_ns() - b]
print(json.dumps({"rows": rows, "firsts": [], "steps": 200, "epochs": None, "core_waits": {},
    "span": time.perf_counter_ns() - begin, "why": ["input-bound"]}), flush=True)
