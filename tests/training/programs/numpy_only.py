# SPDX-License-Identifier: Apache-2.0
"""Logistic regression by hand in numpy: no framework, nothing that could be seen of its steps."""

import numpy as np
import timers as own

generator = np.random.default_rng(0)
x, weights = generator.standard_normal((20000, 64)), np.zeros(64)
y = (x @ generator.standard_normal(64) > 0).astype(float)
for epoch in range(20):
    for begin in range(0, len(x), 256):
        rows, labels = x[begin : begin + 256], y[begin : begin + 256]
        with own.row("forward"):
            told = 1 / (1 + np.exp(-rows @ weights))
        with own.row("backward"):
            gradient = rows.T @ (told - labels) / len(rows)
        weights -= 0.1 * gradient
own.show(steps=0, epochs=None, rows={}, why=["cannot-tell"])
