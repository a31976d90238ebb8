"""The judge of configuration, against values worked out by hand."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.problems.configuration import AdaptiveJob, Configuration, ConfigurationSolution, Shape, shapes
from gsopt.testing import brute_force
from tests.strategies.configuration import chosen, job, node

JOBS = (job("old", 1.0, 1.8, 3.0, current=1, restart_factor=0.9), job("new", 1.0, 1.5, None))

#: What the two jobs cost together: goodputs to the power -1/2, in hundredths.
VALUES: Mapping[str, tuple[ConfigurationSolution, Fraction]] = {
    "nobody": (chosen(), Fraction(220, 100)),
    "kept": (chosen(old=1), Fraction(75 + 110, 100)),
    "grown": (chosen(old=2), Fraction(61 + 110, 100)),
    "shrunk": (chosen(old=0, new=0), Fraction(105 + 100, 100)),
    "both": (chosen(old=1, new=1), Fraction(75 + 82, 100)),
}


@pytest.mark.parametrize(("solution", "value"), VALUES.values(), ids=VALUES.keys())
def test_values_by_hand(solution: ConfigurationSolution, value: Fraction) -> None:
    """Powers of goodputs in hundredths, of other configurations after the factor; the penalty for none."""
    problem = node(4, *JOBS)
    assert problem.violations(solution) == []
    assert problem.objective(solution) == value


def test_values_by_hand_for_other_powers() -> None:
    """A positive power counts as a gain, the cap holds, and decimals are as asked."""
    assert node(4, *JOBS, power=1.0).objective(chosen(old=2, new=1)) == -Fraction(270 + 150, 100)
    assert node(4, *JOBS, power=1.0, cap=2.0).objective(chosen(old=2)) == Fraction(110 - 200, 100)
    assert node(4, *JOBS, decimals=0).objective(chosen(old=1, new=1)) == 2
    assert node(4, *JOBS, decimals=4).objective(chosen(old=1)) == Fraction(7454 + 11000, 10000)


def test_who_restarted_for_all_its_life_costs_the_cap_elsewhere() -> None:
    """With a factor of 0, or next to it, the power is infinite and the cap counts; a gain is 0."""
    for factor in (0.0, 5e-324):
        often = job("often", 1.0, 1.8, 3.0, current=0, restart_factor=factor)
        assert node(4, often).objective(chosen(often=1)) == 3000
        assert node(4, often, power=1.0).objective(chosen(often=1)) == 0


def test_who_has_none_pays_for_no_restart() -> None:
    """The factor of a job without a configuration does not count."""
    problem = node(4, job("new", 1.0, 4.0, None, restart_factor=0.5))
    assert problem.objective(chosen(new=1)) == Fraction(1, 2)


WRONG: Mapping[str, tuple[ConfigurationSolution, str]] = {
    "no such job": (chosen(z=0), "configurations: 'z' is not a job of the instance"),
    "no such place": (chosen(old=3), "configurations: 'old' has configuration 3, there are 3"),
    "not there": (chosen(new=2), "configurations: 'new' has 2, in which it does not run"),
    "too many": (chosen(old=2, new=0), "configurations: 5 GPUs of type 't4' are used, there are 4"),
}


@pytest.mark.parametrize(("solution", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_broken_rules_are_named(solution: ConfigurationSolution, sentence: str) -> None:
    """Each rule that a solution breaks is one sentence with the job or the type."""
    assert node(4, *JOBS).violations(solution)[0] == sentence


def test_pinned_jobs_stay() -> None:
    """A pinned job has its configuration in every solution."""
    problem = node(4, job("old", 1.0, 1.8, 3.0, current=1, pinned=True), JOBS[1])
    assert problem.violations(chosen(old=2)) == ["configurations: 'old' has 2, is pinned to 1"]
    assert problem.violations(chosen()) == ["configurations: 'old' has None, is pinned to 1"]
    assert all(each.configurations["old"] == 1 for each in problem.candidates())


BAD: Mapping[str, tuple[dict[str, Any], str]] = {
    "one name": ({"jobs": [JOBS[0], JOBS[0]]}, r"jobs\[1\].name: 'old': must differ"),
    "a goodput too few": ({"jobs": [job("a", 1.0)]}, r"jobs\[0\].goodputs: .* each of the 3 configurations"),
    "no type": ({"gpus": {"v100": 4}}, r"configurations\[0\].type: 't4': must be a type of GPU"),
    "too many pinned": (
        {"gpus": {"t4": 1}, "jobs": [job("a", 1.0, 2.0, None, current=1, pinned=True)]},
        r"gpus.t4: 1: must be at least the 2 GPUs that pinned jobs have",
    ),
    "no power": ({"power": 0.0}, "power: 0.0: must not be 0"),
    "a negative penalty": ({"penalty": -1.0}, "greater than or equal to 0"),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD.keys())
def test_bad_data_are_refused(changes: dict[str, Any], message: str) -> None:
    """Data that make no sense are refused with the field, its value and the rule."""
    given = {"gpus": {"t4": 4}, "configurations": shapes("t4", 1, 4), "jobs": JOBS, **changes}
    with pytest.raises(ValidationError, match=message):
        Configuration(**given)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"goodputs": [1.0], "current": 1}, "current: 1: must be the index of one of the 1 configurations"),
        ({"goodputs": [1.0], "pinned": True}, "pinned: True: must be false for a job without"),
        ({"goodputs": [None], "current": 0, "pinned": True}, "pinned: True: must be false for a job without"),
        ({"goodputs": [0.0]}, "greater than or equal to 0.000000001"),
        ({"goodputs": [1.0], "restart_factor": 1.5}, "less than or equal to 1"),
    ],
)
def test_bad_jobs_are_refused(fields: dict[str, Any], message: str) -> None:
    """A job's current configuration is listed, and only what runs is pinned."""
    with pytest.raises(ValidationError, match=message):
        AdaptiveJob(name="a", **fields)


def test_every_node_of_a_shape_has_a_gpu() -> None:
    """A shape on more nodes than it has GPUs is refused."""
    with pytest.raises(ValidationError, match="nodes: 3: must be at most the 2 GPUs"):
        Shape(type="t4", nodes=3, gpus=2)


@pytest.mark.parametrize(
    ("nodes", "per_node", "counts"),
    [(2, 8, [1, 2, 4, 8, 16]), (3, 1, [1, 2, 3]), (2, 6, [1, 2, 4, 6, 12]), (0, 4, [])],
)
def test_shapes_are_powers_of_two_and_whole_nodes(nodes: int, per_node: int, counts: list[int]) -> None:
    """Of a node 1, 2, 4, ... GPUs below all of them, then whole nodes."""
    found = shapes("t4", nodes, per_node)
    assert [shape.gpus for shape in found] == counts
    assert all(shape.nodes == -(-shape.gpus // per_node) for shape in found)


def test_measures_count_what_changes() -> None:
    """A started and a changed job restart, a stopped one does not; idle GPUs and waiting jobs are counted."""
    measures = node(4, *JOBS).measures(chosen(old=0, new=0))
    assert measures == {"waiting_jobs": 0, "restarts": 2, "idle_gpus": 2}
    assert node(4, *JOBS).measures(chosen()) == {"waiting_jobs": 2, "restarts": 0, "idle_gpus": 4}


def test_candidates_hold_the_optimum_by_hand() -> None:
    """The old job keeps its two GPUs and the new one has the others."""
    assert brute_force(node(4, *JOBS)) == (Fraction(157, 100), chosen(old=1, new=1))
