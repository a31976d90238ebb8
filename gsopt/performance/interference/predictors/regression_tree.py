"""Regression tree: one tree over the features of both jobs."""

from gsopt.performance.interference.prediction import Prediction
from gsopt.performance.interference.table import PairTable
from gsopt.performance.interference.trees import fitted, require_options, require_scikit_learn


def regression_tree(
    table: PairTable, /, *, leaf: int = 2, depth: int | None = None, seed: int = 0
) -> Prediction:
    """Predict with one regression tree over the features of both jobs (requires scikit-learn).

    Both directions of a pair are samples for the same tree. The paper's features are means and variances of
    hardware counters. Public tables lack these, so the tree uses whatever features the table has.

    Source: Castor, section 6.2.

    Parameters
    ----------
    table
        The table to learn from.
    leaf
        Minimum number of samples in a leaf.
    depth
        Maximum depth of the tree; None for no limit other than the size of leaves.
    seed
        Seed for choosing among equally good splits.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> a, b = Profile(name="a", features={"load": 0.9}), Profile(name="b", features={"load": 0.2})
    >>> pairs = {"a": {"a": 2.0, "b": 1.25}, "b": {"a": 1.5, "b": 1.0}}
    >>> prediction = regression_tree(PairTable(profiles=[a, b], slowdowns=pairs), leaf=1)
    >>> [round(slowdown, 6) for slowdown in prediction.slowdowns([(a, b), (b, a)])]
    [1.25, 1.5]
    >>> max(prediction.importance, key=prediction.importance.get)
    "partner's load"
    """
    require_options(seed, leaf=leaf, depth=depth)
    require_scikit_learn("regression_tree")
    from sklearn.tree import DecisionTreeRegressor

    return fitted(table, DecisionTreeRegressor(min_samples_leaf=leaf, max_depth=depth, random_state=seed))
