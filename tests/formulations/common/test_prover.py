"""HiGHS, told to prove."""

import numpy as np
import pytest

from formulations.common.prover import Prover
from gsopt.core.result import Status
from gsopt.solvers.backends import Highs
from gsopt.solvers.standard_form import StandardForm


def _random(seed: int) -> StandardForm:
    """Draw a small integer program of packing rows, half of its columns whole numbers."""
    random = np.random.default_rng(seed)
    return StandardForm.build(
        cost=-random.integers(1, 20, 12).astype(float),
        matrix=random.integers(0, 9, (6, 12)).astype(float),
        row_lower=np.full(6, -np.inf),
        row_upper=random.integers(20, 60, 6).astype(float),
        column_upper=np.full(12, 5.0),
        integer=np.arange(12) % 2 == 0,
        offset=3.0,
    )


def test_it_proves_what_highs_proves() -> None:
    """On random integer programs both prove the same optimum, with a start and without."""
    for seed in range(10):
        form = _random(seed)
        expected = Highs().solve(form)
        for start in (None, expected.values):
            found = Prover().solve(form, start=start)
            assert found.status is expected.status is Status.OPTIMAL
            assert found.objective == pytest.approx(expected.objective)
            assert found.bound == pytest.approx(expected.objective)


def test_it_is_asked_the_same_but_for_how() -> None:
    """Model, start and all of HiGHS' own options are passed on; only the ways to search are added."""
    form = _random(0)
    start = np.zeros(12)
    function, task = Prover(threads=2, seed=7).request(form, time_limit=5.0, gap=0.25, start=start)
    expected, same = Highs(threads=2, seed=7).request(form, time_limit=5.0, gap=0.25, start=start)

    assert function is expected
    assert task.start is start
    assert (task.model.coefficients == same.model.coefficients).all()
    assert same.options.items() <= task.options.items()
    assert task.options["time_limit"] == 5.0
    assert task.options["mip_rel_gap"] == same.options["mip_rel_gap"]


def test_it_searches_by_no_programs_and_learns_from_one_branch() -> None:
    """HiGHS knows every option added, and would otherwise run those heuristics and try eight branches."""
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    asked, usual = ({}, {})
    form = _random(0)
    every = Prover().request(form, time_limit=None, gap=0.0, start=None)[1].options
    known = Highs().request(form, time_limit=None, gap=0.0, start=None)[1].options
    for name in every.keys() - known.keys():
        asked[name], usual[name] = every[name], solver.getOptionValue(name)[1]

    heuristics = {f"mip_heuristic_run_{name}" for name in ("rins", "rens", "root_reduced_cost")}
    assert asked == dict.fromkeys(heuristics, False) | {"mip_pscost_minreliable": 1}
    assert usual == dict.fromkeys(heuristics, True) | {"mip_pscost_minreliable": 8}
