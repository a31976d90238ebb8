"""The judge of goodput, against values worked out by hand."""

from collections.abc import Mapping
from fractions import Fraction
from math import isclose
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.problems.goodput import Goodput, GoodputJob, GoodputSolution
from gsopt.testing import brute_force
from tests.strategies.goodput import LINEAR, job


def two_nodes(**changes: Any) -> Goodput:
    """Return two nodes of two GPUs, a job that has run on one of them for ten minutes and one that is new."""
    jobs = [job("old", *LINEAR, current=[2, 0], restarts=2), job("new", *LINEAR, age=30.0, max_gpus=3)]
    return Goodput(**{"nodes": [2, 2], "jobs": jobs, **changes})


def gpus(**vectors: list[int]) -> GoodputSolution:
    """Return a solution by names of jobs."""
    return GoodputSolution(gpus=vectors)


C = Fraction(1, 1000)

#: What each job counts without its power: factor times speed-up over the two GPUs of a node, and a thousandth.
VALUES: Mapping[str, tuple[GoodputSolution, tuple[Fraction, Fraction]]] = {
    "nobody": (gpus(), (C, C)),
    "kept": (gpus(old=[2, 0]), (1 + C, C)),
    "moved": (gpus(old=[0, 2]), (Fraction(540, 630) + C, C)),
    "shrunk": (gpus(old=[1, 0]), (Fraction(540, 630) / 2 + C, C)),
    "on two nodes": (gpus(old=[1, 1]), (Fraction(540, 630) * Fraction(3, 4) + C, C)),
    "both": (gpus(old=[2, 0], new=[0, 2]), (1 + C, Fraction(1, 2) + C)),
    "no GPUs": (gpus(old=[2, 0], new=[0, 0]), (1 + C, C)),
}


@pytest.mark.parametrize(("solution", "scaled"), VALUES.values(), ids=VALUES.keys())
def test_values_by_hand(solution: GoodputSolution, scaled: tuple[Fraction, Fraction]) -> None:
    """The mean of inverse speed-ups; with another power, of those to that power; fitness is the power mean."""
    problem = two_nodes()
    assert problem.violations(solution) == []
    assert problem.objective(solution) == sum(1 / each for each in scaled) / 2
    cubes = two_nodes(power=-3)
    assert cubes.objective(solution) == sum(1 / each**3 for each in scaled) / 2
    mean = sum(1 / float(each) ** 3 for each in scaled) / 2
    assert isclose(cubes.measures(solution)["fitness"], mean ** (-1 / 3), rel_tol=1e-12)


def test_who_restarted_for_all_its_life_gains_nothing_by_another_restart() -> None:
    """A job whose restarts took all its time, or that has just arrived, counts as one without GPUs."""
    jobs = [job("a", *LINEAR, current=[1, 0], restarts=20), job("b", *LINEAR, age=0.0)]
    problem = two_nodes(jobs=jobs)
    assert problem.factors == (0, 0)
    assert problem.objective(gpus(a=[1, 1], b=[0, 1])) == problem.objective(gpus()) == 1000


def test_no_job_runs_on_more_nodes_than_gpus() -> None:
    """A number of nodes that is 0, or more than the GPUs or the rows, is no combination."""
    job = GoodputJob(name="a", speedups=[[1.0, 1.8], [1.5]])
    assert [job.speedup(nodes, gpus) for nodes, gpus in [(0, 0), (1, 2), (2, 2)]] == [0.0, 1.8, 1.5]
    assert [job.speedup(nodes, gpus) for nodes, gpus in [(2, 1), (3, 1), (0, 1), (3, 3)]] == [None] * 4


def test_restarts_may_cost_nothing() -> None:
    """Without a restart time every factor is 1, also that of a job that has just arrived."""
    assert two_nodes(restart_time=0.0).factors == (1, 1)


WRONG: Mapping[str, tuple[GoodputSolution, str]] = {
    "no such job": (gpus(z=[1, 0]), "gpus: 'z' is not a job of the instance"),
    "a node too few": (gpus(old=[1]), "gpus: 'old' has [1], must name the GPUs on each of the 2 nodes"),
    "too many GPUs": (gpus(new=[2, 2]), "gpus: 'new' has 4 GPUs, may have 3"),
    "a full node": (gpus(old=[2, 0], new=[1, 0]), "gpus: 3 GPUs of node 0 are used, it has 2"),
    "unknown": (gpus(old=[3, 2]), "gpus: 'old' has 5 GPUs on 2 nodes, on which it does not run"),
    "two wide jobs": (
        gpus(old=[1, 1], new=[1, 1]),
        "gpus: node 0 holds parts of 2 jobs on several nodes, may hold one",
    ),
}


@pytest.mark.parametrize(("solution", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_broken_rules_are_named(solution: GoodputSolution, sentence: str) -> None:
    """Each rule that a solution breaks is one sentence with the job or the node."""
    assert two_nodes().violations(solution)[0] == sentence


BAD: Mapping[str, tuple[dict[str, Any], str]] = {
    "one name": ({"jobs": [job("a"), job("a")]}, r"jobs\[1\].name: 'a': must differ"),
    "a node too few": ({"jobs": [job("a", current=[1])]}, r"jobs\[0\].current: \[1\]: must name .* 2 nodes"),
    "too many run": ({"jobs": [job("a", current=[3, 0])]}, r"nodes\[0\]: 2: must be at least the 3 GPUs"),
    "a negative speed-up": ({"jobs": [{"name": "a", "speedups": [[-1.0]]}]}, "greater than or equal to 0"),
    "no power": ({"power": 0}, "less than or equal to -1"),
    "no constant": ({"floor": 0.0}, "greater than or equal to 0.000000001"),
    "an empty node": ({"nodes": [0, 2]}, "greater than or equal to 1"),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD.keys())
def test_bad_data_are_refused(changes: dict[str, Any], message: str) -> None:
    """Data that make no sense are refused with the field, its value and the rule."""
    with pytest.raises(ValidationError, match=message):
        two_nodes(**changes)


def test_measures_count_what_changes() -> None:
    """A started and a moved job restart, a stopped one does not; idle GPUs and waiting jobs are counted."""
    measures = two_nodes().measures(gpus(old=[1, 0], new=[0, 1]))
    assert (measures["restarts"], measures["waiting_jobs"], measures["idle_gpus"]) == (2, 0, 2)
    measures = two_nodes().measures(gpus())
    assert (measures["restarts"], measures["waiting_jobs"], measures["idle_gpus"]) == (0, 2, 4)


def test_candidates_hold_the_optimum_by_hand() -> None:
    """The old job keeps its node and the new one has the other."""
    found = brute_force(two_nodes())
    assert found is not None
    assert found[1] == gpus(old=[2, 0], new=[0, 2])
