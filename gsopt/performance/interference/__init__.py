"""Interference: measured or predicted slowdowns of two jobs that share a GPU.

A `PairTable` contains the measured slowdowns of pairs of configurations, which are models with a batch size. A
`Profile` contains measurements of one configuration alone. The predictors in
`gsopt.performance.interference.predictors` learn from a table, and return a `Prediction` for all other pairs.
`evaluate` measures the errors of a predictor on held-out pairs (`splits`), and the effect of these errors on
decisions (`compare_decisions`). `predicted` returns a table of predicted slowdowns for policies.

Examples
--------
>>> from gsopt.performance.interference.predictors import row_means
>>> profiles = [Profile(name=name, features={"batch size": 32}) for name in ("bert", "resnet50")]
>>> table = PairTable(profiles=profiles, slowdowns={"bert": {"resnet50": 1.5}, "resnet50": {"bert": 1.5}})
>>> row_means(table).filled(table)["bert"]
{'bert': 1.5, 'resnet50': 1.5}
"""

from gsopt.performance.interference.decisions import RATIOS, Decisions, compare_decisions
from gsopt.performance.interference.evaluation import Evaluation, evaluate, predicted
from gsopt.performance.interference.prediction import Prediction, Predictor
from gsopt.performance.interference.splits import Split, splits
from gsopt.performance.interference.table import Couple, PairTable, Profile

__all__ = [
    "RATIOS",
    "Couple",
    "Decisions",
    "Evaluation",
    "PairTable",
    "Prediction",
    "Predictor",
    "Profile",
    "Split",
    "compare_decisions",
    "evaluate",
    "predicted",
    "splits",
]
