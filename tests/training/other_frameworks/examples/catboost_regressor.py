# SPDX-License-Identifier: Apache-2.0
"""CatBoost on arrays, fitted twice: the second fit goes on from the first."""

from catboost import CatBoostRegressor
from own import Own, table


def main():
    own = Own()
    x, y = table(8000)
    first = CatBoostRegressor(iterations=30, learning_rate=0.1, depth=6, verbose=0, thread_count=2)
    first.fit(x, y)
    second = CatBoostRegressor(iterations=20, learning_rate=0.1, verbose=0, thread_count=2)
    second.fit(x, y, init_model=first)
    print(second.predict(x[:3]))
    own.tell()


main()
