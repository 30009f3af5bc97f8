# SPDX-License-Identifier: Apache-2.0
"""scikit-learn out of core: partial_fit on blocks of a file that numpy maps."""

import numpy as np
from own import Own, table
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler


def main():
    own = Own()
    x, y = table(20000)
    np.save("rows.npy", x)
    rows, scaler, model = np.load("rows.npy", mmap_mode="r"), StandardScaler(), SGDClassifier()
    for begin in range(0, len(rows), 500):
        block = scaler.partial_fit(rows[begin : begin + 500]).transform(rows[begin : begin + 500])
        model.partial_fit(block, y[begin : begin + 500], classes=[0, 1])
    print(model.score(scaler.transform(x), y))
    own.tell()


main()
