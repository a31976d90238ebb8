"""Boosted trees: a sum of small regression trees, each fitted to the errors of the previous trees."""

from gsopt.performance.interference.prediction import Prediction
from gsopt.performance.interference.table import PairTable
from gsopt.performance.interference.trees import fitted, require_options, require_scikit_learn


def boosted_trees(
    table: PairTable, /, *, trees: int = 300, depth: int = 4, rate: float = 0.1, seed: int = 0
) -> Prediction:
    """Predict with gradient-boosted regression trees over the features of both jobs (requires scikit-learn).

    The paper describes a single tree but trains it with a boosting framework. This predictor uses boosting, and
    `regression_tree` uses a single tree.

    Source: Castor, section 6.1.

    Parameters
    ----------
    table
        The table to learn from.
    trees, depth
        Number of trees, and their maximum depth.
    rate
        Learning rate, a factor by which each tree's prediction is multiplied.
    seed
        Seed for choosing among equally good splits.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> a, b = Profile(name="a", features={"load": 0.9}), Profile(name="b", features={"load": 0.2})
    >>> pairs = {"a": {"a": 2.0, "b": 1.25}, "b": {"a": 1.5, "b": 1.0}}
    >>> prediction = boosted_trees(PairTable(profiles=[a, b], slowdowns=pairs))
    >>> [round(slowdown, 3) for slowdown in prediction.slowdowns([(a, b), (b, a)])]
    [1.25, 1.5]
    """
    require_options(seed, rate=rate, trees=trees, depth=depth)
    require_scikit_learn("boosted_trees")
    from sklearn.ensemble import GradientBoostingRegressor

    model = GradientBoostingRegressor(
        n_estimators=trees, max_depth=depth, learning_rate=rate, random_state=seed
    )
    return fitted(table, model)
