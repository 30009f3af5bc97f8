# SPDX-License-Identifier: Apache-2.0
"""A pipeline of scikit-learn in a grid search, with two processes of joblib."""

from own import Own, table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def main():
    own = Own()
    x, y = table(3000)
    model = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=20))
    grid = {"histgradientboostingclassifier__max_depth": [3, 6]}
    print(GridSearchCV(model, grid, cv=3, n_jobs=2).fit(x, y).best_score_)
    own.tell()


main()
