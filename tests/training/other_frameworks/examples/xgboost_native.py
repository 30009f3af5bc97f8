# SPDX-License-Identifier: Apache-2.0
"""XGBoost's own interface: DMatrix, a watch list, early stopping; then a cross validation."""

import xgboost as xgb
from own import Own, table


class Counted(xgb.callback.TrainingCallback):
    def __init__(self, own, boosters):
        super().__init__()
        self.own, self.boosters = own, boosters

    def after_iteration(self, model, epoch, evals_log):
        for _ in range(self.boosters):
            self.own.step()
        return False


def main():
    own = Own()
    (x, y), (test_x, test_y) = table(20000), table(2000, seed=1)
    train, test = xgb.DMatrix(x, label=y), xgb.DMatrix(test_x, label=test_y)
    params = {"max_depth": 6, "eta": 0.1, "objective": "binary:logistic", "nthread": 2}
    watched = [(train, "train"), (test, "eval")]
    how = {"evals": watched, "early_stopping_rounds": 10, "verbose_eval": False}
    booster = xgb.train(params, train, 40, callbacks=[Counted(own, 1)], **how)
    booster.save_model("model.json")
    print(booster.predict(test)[:3])
    print(xgb.cv(params, train, 8, nfold=3, callbacks=[Counted(own, 3)])[-1:])
    own.tell()


main()
