"""Evaluation: the accuracy of a predictor on pairs that it has not seen."""

from collections.abc import Iterable, Sequence
from math import sqrt
from statistics import fmean

from gsopt.core.errors import InvalidInput
from gsopt.core.problem import Frozen
from gsopt.performance.interference.decisions import RATIOS, Decisions, compare_decisions
from gsopt.performance.interference.prediction import Prediction, Predictor
from gsopt.performance.interference.splits import Split, splits
from gsopt.performance.interference.table import Couple, PairTable


class Evaluation(Frozen):
    """The errors of a predictor on held-out pairs, and their effect on decisions.

    Attributes
    ----------
    directions
        Number of predicted slowdowns: two each time that a pair is held out, but one for a configuration paired
        with itself.
    mean_absolute, mean_relative, root_mean_square, largest
        Mean absolute error, mean absolute error relative to the measured slowdown, root mean square error, and
        largest absolute error.
    decisions
        The effect of the errors on decisions.
    importance
        Mean importance of the features over all splits, in descending order of importance; empty if the
        predictor reports none.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> from gsopt.performance.interference.predictors import overall_mean
    >>> profiles = [Profile(name=name, features={}) for name in "ab"]
    >>> slowdowns = {"a": {"a": 1.0}, "b": {"b": 2.0}}
    >>> found = evaluate(PairTable(profiles=profiles, slowdowns=slowdowns), overall_mean)
    >>> found.largest, found.mean_relative
    (1.0, 0.75)
    """

    directions: int
    mean_absolute: float
    mean_relative: float
    root_mean_square: float
    largest: float
    decisions: Decisions
    importance: dict[str, float]


def evaluate(
    table: PairTable,
    predictor: Predictor,
    *,
    folds: int = 5,
    by: Split = "pair",
    seed: int = 0,
    ratios: Sequence[float] = RATIOS,
) -> Evaluation:
    """Predict held-out pairs from the other pairs, and compare the predictions with the measurements.

    Source: Castor, sections 6.2 to 6.4, which report root mean square errors of at most 0.07.

    Parameters
    ----------
    table
        The measured slowdowns.
    predictor
        A function from `gsopt.performance.interference.predictors`, or a similar callable.
    folds, by, seed
        As in `gsopt.performance.interference.splits`.
    ratios
        As in `gsopt.performance.interference.compare_decisions`.

    Raises
    ------
    InvalidInput
        There are too few pairs, or an option is out of range.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> from gsopt.performance.interference.predictors import overall_mean
    >>> table = PairTable(
    ...     profiles=[Profile(name=name, features={}) for name in "ab"],
    ...     slowdowns={"a": {"a": 1.5, "b": 1.5}, "b": {"a": 1.5, "b": 1.5}},
    ... )
    >>> found = evaluate(table, overall_mean)
    >>> found.directions, round(found.mean_absolute, 9), found.decisions.alike
    (4, 0.0, 1.0)
    """
    predictions: list[Prediction] = []
    found: list[tuple[Couple, tuple[float, float]]] = []
    for learnt, held_out in splits(table, folds=folds, by=by, seed=seed):
        predictions.append(predictor(learnt))
        found += _predicted(table, predictions[-1], held_out)
    if not found:
        rule = "must hold enough pairs to learn from some and hold out others"
        raise InvalidInput("slowdowns", f"{len(table.couples)} pairs", rule, source=table.name)
    pairs = list(_directions(table, found))
    errors = [abs(value - measured) for value, measured in pairs]
    return Evaluation(
        directions=len(pairs),
        mean_absolute=fmean(errors),
        mean_relative=fmean(error / measured for error, (_, measured) in zip(errors, pairs, strict=True)),
        root_mean_square=sqrt(fmean(error**2 for error in errors)),
        largest=max(errors),
        decisions=compare_decisions(table, found, ratios=ratios),
        importance=_importance(predictions),
    )


def predicted(
    table: PairTable, predictor: Predictor, *, folds: int = 5, seed: int = 0, name: str = "predicted"
) -> PairTable:
    """Return a table in which every measured slowdown is replaced by a prediction from other pairs.

    A policy that has never seen a pair can assume these slowdowns (`gsopt.simulation.beliefs.believing`). If a
    table has only one measured pair, this pair cannot be predicted and is omitted.

    Parameters
    ----------
    table, predictor, folds, seed
        As in `evaluate`.
    name
        Name of the table.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> from gsopt.performance.interference.predictors import overall_mean
    >>> profiles = [Profile(name=name, features={}) for name in "ab"]
    >>> table = PairTable(profiles=profiles, slowdowns={"a": {"a": 1.0}, "b": {"b": 2.0}})
    >>> predicted(table, overall_mean).slowdowns == {"a": {"a": 2.0}, "b": {"b": 1.0}}
    True
    """
    slowdowns: dict[str, dict[str, float]] = {}
    for learnt, held_out in splits(table, folds=folds, seed=seed):
        for (first, second), (forth, back) in _predicted(table, predictor(learnt), held_out):
            slowdowns.setdefault(first, {})[second] = forth
            slowdowns.setdefault(second, {})[first] = back
    return PairTable(name=name, profiles=table.profiles, slowdowns=slowdowns)


def _predicted(
    table: PairTable, prediction: Prediction, couples: Sequence[Couple]
) -> Iterable[tuple[Couple, tuple[float, float]]]:
    """Yield the predicted slowdowns of pairs in both directions."""
    profiles = [(table.by_name[first], table.by_name[second]) for first, second in couples]
    forth = prediction.slowdowns(profiles)
    back = prediction.slowdowns([(second, first) for first, second in profiles])
    return zip(couples, zip(forth, back, strict=True), strict=True)


def _directions(
    table: PairTable, predicted: Iterable[tuple[Couple, tuple[float, float]]]
) -> Iterable[tuple[float, float]]:
    """Yield every predicted slowdown together with the measured one."""
    for (first, second), (forth, back) in predicted:
        yield forth, table.slowdown(first, second)
        if first != second:
            yield back, table.slowdown(second, first)


def _importance(predictions: Sequence[Prediction]) -> dict[str, float]:
    means = {
        name: fmean(prediction.importance[name] for prediction in predictions)
        for name in predictions[0].importance
    }
    return dict(sorted(means.items(), key=lambda item: -item[1]))
