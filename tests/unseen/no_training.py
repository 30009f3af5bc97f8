# SPDX-License-Identifier: Apache-2.0
"""A script that prepares data: it hashes, sorts and compresses."""

import hashlib, json, zlib, numpy as np
from sets import noise, path

a = noise(2_000_000)
for n in range(20):
    np.sort(a)
    hashlib.sha256(a.tobytes()).hexdigest()
    with open(path(f"{n}.z"), "wb") as f:
        f.write(zlib.compress(a[:200000].tobytes()))
print(
    json.dumps(
        {
            "rows": {},
            "firsts": [],
            "steps": 0,
            "epochs": None,
            "core_waits": {},
            "span": 1,
            "why": ["no-training"],
        }
    ),
    flush=True,
)
