# SPDX-License-Identifier: Apache-2.0
"""LightGBM as an estimator of scikit-learn."""

import lightgbm as lgb
from own import Own, table
from sklearn.model_selection import train_test_split


def main():
    own = Own()
    x, y = table(20000)
    train_x, test_x, train_y, test_y = train_test_split(x, y, test_size=0.2, random_state=0)
    model = lgb.LGBMRegressor(num_leaves=31, n_estimators=60, n_jobs=2, verbose=-1)
    stop = lgb.early_stopping(50, verbose=False)
    model.fit(train_x, train_y, eval_set=[(test_x, test_y)], callbacks=[stop, own.step])
    print(model.score(test_x, test_y))
    own.tell()


main()
