# SPDX-License-Identifier: Apache-2.0
"""xgboost and lightgbm, one after the other, on arrays in memory."""

import json, lightgbm, numpy as np, xgboost
from sets import noise

x = noise(40000, 30)
y = (x[:, 0] * x[:, 1] > 0).astype(int)
xgboost.train(
    {"objective": "binary:logistic", "nthread": 1}, xgboost.DMatrix(x, y), num_boost_round=40
)
lightgbm.train(
    {"objective": "binary", "num_threads": 1, "verbose": -1},
    lightgbm.Dataset(x, y),
    num_boost_round=40,
)
print(
    json.dumps(
        {
            "rows": {},
            "firsts": [],
            "steps": 80,
            "epochs": None,
            "core_waits": {},
            "span": 1,
            "why": ["compute-bound"],
        }
    ),
    flush=True,
)
