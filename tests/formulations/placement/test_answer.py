"""Answers: what needs no model, and models that disagree with the judge."""

import numpy as np
import pytest

from formulations.placement.answer import answer, without_model
from formulations.placement.packing import Packing, Patterns
from formulations.placement.settle import Settled
from gsopt.core.budget import Budget
from gsopt.core.errors import Contradiction, ModelMismatch
from gsopt.core.result import Status
from tests.strategies.placement import committed

NOW = Budget()


def test_nothing_to_place_is_optimal() -> None:
    """Without workers the empty placement is optimal, whatever is in use already."""
    result = without_model(committed("small/no-workers"), "method", NOW)

    assert result is not None
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 1, 1)


def test_a_worker_that_fits_nowhere_is_infeasible() -> None:
    """A worker larger than any server needs no model."""
    result = without_model(committed("small/too-large-a-worker"), "method", NOW)

    assert result is not None
    assert (result.status, result.message) == (
        Status.INFEASIBLE,
        "workers[1] of job j2 (8 GPU, 0 CPU, 0 memory) fits on no server",
    )
    assert without_model(committed("small/six-items"), "method", NOW) is None


@pytest.mark.parametrize(("counted", "error"), [(1, ModelMismatch), (3, Contradiction)])
def test_a_model_that_miscounts_is_found_out(counted: int, error: type[Exception]) -> None:
    """A model that counts less than the judge raises, and so does one that proves more."""
    patterns = Patterns.of([(0, 0, [1, 0, 2]), (0, 0, [0, 2, 1])], 3)
    settled = Settled(counted, np.array([1, 1]), counted)
    packing = Packing.of(committed("small/six-items"))
    with pytest.raises(error):
        answer(packing, patterns, settled, method="m", budget=NOW, message="")


def test_a_model_may_count_more_before_the_optimum() -> None:
    """Before the optimum a model may pay for servers that stay empty."""
    problem = committed("small/six-items")
    patterns = Patterns.of([(0, 0, [1, 0, 2]), (0, 0, [0, 2, 1])], 3)
    settled = Settled(1, np.array([1, 2]), 3)
    result = answer(Packing.of(problem), patterns, settled, method="m", budget=NOW, message="note")

    assert (result.objective, result.bound, result.message) == (2, 1, "note")
    assert result.status is Status.FEASIBLE
