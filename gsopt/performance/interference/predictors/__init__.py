"""Predictors: methods that predict the slowdowns of unmeasured pairs from a table, one method per file.

Every predictor takes a `gsopt.performance.interference.PairTable`, and returns a
`gsopt.performance.interference.Prediction`. Some predictors have options.
"""

from gsopt.performance.interference.predictors.boosted_trees import boosted_trees
from gsopt.performance.interference.predictors.nearest import nearest
from gsopt.performance.interference.predictors.overall_mean import overall_mean
from gsopt.performance.interference.predictors.regression_tree import regression_tree
from gsopt.performance.interference.predictors.row_means import row_means

__all__ = ["boosted_trees", "nearest", "overall_mean", "regression_tree", "row_means"]
