# SPDX-License-Identifier: Apache-2.0
"""CatBoost with pools, a column of categories, and the best model kept."""

import numpy as np
from catboost import CatBoostClassifier, Pool
from own import Own, table


def pool_of(count, seed):
    x, y = table(count, seed=seed)
    kinds = np.random.default_rng(seed).integers(0, 5, (count, 1)).astype(str)
    return Pool([[*row, *kind] for row, kind in zip(x.tolist(), kinds)], y, cat_features=[20])


def main():
    own = Own()
    train, test = pool_of(4000, 0), pool_of(500, 1)
    model = CatBoostClassifier(iterations=40, depth=6, verbose=0, thread_count=2)
    model.fit(train, eval_set=test, use_best_model=True)
    print(model.score(test))
    own.tell()


main()
