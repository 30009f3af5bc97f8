# SPDX-License-Identifier: Apache-2.0
"""LightGBM itself: two data sets, early stopping, and training that goes on from a kept model."""

import lightgbm as lgb
from own import Own, table

PARAMS = {"objective": "binary", "num_leaves": 31, "learning_rate": 0.05, "verbose": -1}


def main():
    own = Own()
    (x, y), (test_x, test_y) = table(20000), table(2000, seed=1)
    train = lgb.Dataset(x, label=y, free_raw_data=False)
    test = lgb.Dataset(test_x, label=test_y, reference=train, free_raw_data=False)
    calls = [lgb.early_stopping(20, verbose=False), own.step]
    how = {"valid_sets": [test], "num_boost_round": 40, "callbacks": calls}
    model = lgb.train({**PARAMS, "num_threads": 2}, train, **how)
    model.save_model("model.txt")
    how["num_boost_round"] = 20
    model = lgb.train({**PARAMS, "num_threads": 2}, train, init_model="model.txt", **how)
    print(model.predict(test_x)[:3])
    own.tell()


main()
