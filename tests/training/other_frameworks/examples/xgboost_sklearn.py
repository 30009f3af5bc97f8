# SPDX-License-Identifier: Apache-2.0
"""XGBoost as an estimator of scikit-learn, with a score on data that was kept aside."""

import xgboost as xgb
from own import Own, table
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def main():
    own = Own()
    x, y = table(20000)
    train_x, test_x, train_y, test_y = train_test_split(x, y, test_size=0.2, random_state=0)
    model = xgb.XGBClassifier(n_estimators=50, max_depth=6, learning_rate=0.1, n_jobs=2)
    model.fit(train_x, train_y, eval_set=[(test_x, test_y)], verbose=False)
    print(accuracy_score(test_y, model.predict(test_x)))
    own.steps = model.get_booster().num_boosted_rounds()
    own.tell()


main()
