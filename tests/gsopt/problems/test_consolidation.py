"""The judge of consolidation, against values worked out by hand."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.files import to_json
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution, Job
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack
from gsopt.scenario.speed import TierPenalty
from gsopt.testing import brute_force
from tests.gsopt.problems.checks import refusal

JOBS = (
    Job(name="v", gpus=4, model="vgg11"),
    Job(name="m", gpus=3, model="mobilenetv3", weight=2.5),
    Job(name="s", gpus=1, model="mobilenetv3"),
)


def two_racks(**changes: Any) -> Consolidation:
    """Return two racks of two machines with four GPUs, the first GPU of each rack busy, and three jobs."""
    fields: dict[str, Any] = {
        "cluster": Cluster.uniform(racks=2, machines=2, gpus=4),
        "busy": [0, 8],
        "jobs": JOBS,
    }
    return Consolidation(**{**fields, **changes})


def placed(**gpus: Sequence[int]) -> ConsolidationSolution:
    """Return a solution by job names."""
    return ConsolidationSolution(placed=gpus)


def percent(penalty: str) -> Fraction:
    """Return the speed that a penalty leaves."""
    return 1 / (1 + Fraction(penalty))


PLACES: Mapping[str, tuple[ConsolidationSolution, Fraction]] = {
    "machine": (placed(v=[4, 5, 6, 7]), 4 * percent("0.01")),
    "rack": (placed(v=[1, 2, 3, 4]), 4 * percent("0.06")),
    "network": (placed(v=[4, 5, 6, 12]), 4 * percent("0.07")),
    "a weight": (placed(m=[1, 2, 9]), Fraction("7.5") * percent("195.92")),
    "one GPU": (placed(s=[9]), Fraction(1)),
    "two jobs": (placed(v=[4, 5, 6, 7], s=[9]), 4 * percent("0.01") + 1),
    "none": (placed(), Fraction(0)),
}


@pytest.mark.parametrize(("solution", "value"), PLACES.values(), ids=PLACES.keys())
def test_values_by_hand(solution: ConsolidationSolution, value: Fraction) -> None:
    """A job is worth its weight times its GPUs, over one and the penalty of the tier that joins them."""
    problem = two_racks()
    assert problem.violations(solution) == []
    assert problem.objective(solution) == value


def test_models_without_penalties_do_not_communicate() -> None:
    """A model that the penalties do not name is worth its GPUs on any tier."""
    problem = two_racks(jobs=[Job(name="a", gpus=2, model="another")])
    assert problem.objective(placed(a=[1, 9])) == 2


def test_jobs_come_first_where_asked() -> None:
    """Any placement of one more job counts more than any value of the others."""
    problem = two_racks(maximize="lexicographic")
    few, many = placed(v=[4, 5, 6, 7], m=[1, 2, 3]), placed(v=[1, 9, 4, 12], m=[2, 10, 5], s=[3])
    assert two_racks().objective(few) > two_racks().objective(many)
    assert problem.objective(few) < problem.objective(many)
    assert problem.job_bonus == 11  # 4 / 1.01 + 7.5 / 1.42 + 1 is more than 10


def test_whole_machines_break_ties_only() -> None:
    """Of placements of one value the one that leaves more machines whole is better; no worse value is."""
    problem = two_racks(jobs=[Job(name="a", gpus=2), Job(name="b", gpus=2)], maximize="fragmentation")
    together, apart = placed(a=[4, 5], b=[6, 7]), placed(a=[4, 5], b=[12, 13])
    assert [problem.whole_machines(solution) for solution in (together, apart)] == [1, 0]
    assert problem.objective(together) > problem.objective(apart) >= 4
    assert problem.objective(placed(a=[4, 5])) < problem.objective(apart)
    assert 4 * problem.machine_bonus == Fraction(2, 1_000_000)


def test_islands_are_a_tier() -> None:
    """Where machines have islands with a penalty of their own, GPUs of one island have it."""
    machine = Machine(name="m", gpus=4, islands=[Island(name="i", gpus=2), Island(name="k", gpus=2)])
    problem = Consolidation(
        cluster=Cluster(racks=[Rack(name="r", machines=[machine])]),
        jobs=[Job(name="a", gpus=2, model="x")],
        penalties={"x": TierPenalty(machine=1, rack=1, network=3, island=0)},
    )
    assert [problem.objective(placed(a=gpus)) for gpus in ([0, 1], [1, 2])] == [2, 1]
    assert brute_force(problem) == (2, placed(a=[2, 3]))


WRONG: Mapping[str, tuple[ConsolidationSolution, str]] = {
    "no such job": (placed(x=[1]), "placed: 'x' is not a job of the instance"),
    "too few GPUs": (placed(v=[1, 2, 3]), "placed: 'v' has 3 GPUs, needs 4"),
    "no GPUs": (placed(s=[]), "placed: 's' has 0 GPUs, needs 1"),
    "busy": (placed(s=[8]), "placed: 's' has GPU 8, which is busy"),
    "no such GPU": (placed(s=[16]), "placed: 's' has GPU 16, there are 16"),
    "held twice": (placed(v=[1, 2, 3, 4], s=[4]), "placed: 's' has GPU 4, which 'v' has"),
    "twice the same": (placed(v=[1, 2, 3, 3]), "placed: 'v' has GPU 3, which 'v' has"),
}


@pytest.mark.parametrize(("solution", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_broken_rules_are_named(solution: ConsolidationSolution, sentence: str) -> None:
    """Each rule that a solution breaks is one sentence with the job and the GPU."""
    assert two_racks().violations(solution) == [sentence]


def test_candidates_are_all_spreads() -> None:
    """Two GPUs on machines with three and four free are none, 2 + 0, 1 + 1 and 0 + 2."""
    problem = Consolidation(
        cluster=Cluster.uniform(machines=2, gpus=4), busy=[0], jobs=[Job(name="a", gpus=2, model="vgg11")]
    )
    found = [candidate.placed.get("a", ()) for candidate in problem.candidates()]
    assert found == [(), (4, 5), (1, 4), (1, 2)]


def test_figures_beside_the_value() -> None:
    """The measures count jobs, idle GPUs and whole machines; the headline jobs, GPUs and free ones."""
    problem = two_racks()
    assert problem.headline() == {"jobs": 3, "GPUs": 16, "free": 14}
    measures = problem.measures(placed(v=[1, 2, 3, 9]))
    assert measures == {"placed_jobs": 1, "idle_gpus": 10, "whole_machines": 2}


def test_every_value_is_a_multiple_of_the_step() -> None:
    """The step divides what any placement of any job is worth."""
    problem = two_racks(maximize="fragmentation")
    assert problem.step is not None
    assert all(value % problem.step == 0 for value in map(problem.objective, problem.candidates()))


BAD: Mapping[str, tuple[dict[str, Any], str]] = {
    "no tiers": ({"cluster": Cluster.plain(8), "busy": []}, "cluster.plain_gpus: 8: must be 0: the cluster"),
    "a busy GPU that is not there": ({"busy": [16]}, "busy[0]: 16: must be less than the 16 GPUs"),
    "a GPU busy twice": ({"busy": [3, 3]}, "busy[1]: 3: must be listed once"),
    "two jobs of one name": ({"jobs": [JOBS[0], JOBS[0]]}, "jobs[1].name: 'v': must differ"),
    "a wider tier that is better": (
        {"penalties": {"x": TierPenalty(machine=0.5, rack=0.2, network=1)}},
        "penalties.x.rack: 0.2: must be at least the 0.5 of the machine tier",
    ),
}


@pytest.mark.parametrize(("changes", "line"), BAD.values(), ids=BAD.keys())
def test_bad_data_are_refused(changes: dict[str, Any], line: str) -> None:
    """Data that break a rule across fields are refused, field, value and rule named."""
    with pytest.raises(ValidationError) as raised:
        two_racks(**changes)
    assert line in str(raised.value)


BAD_FILES = {
    "no GPUs": ('"gpus": 3', '"gpus": 0', "jobs[1].gpus: 0: "),
    "half a GPU": ('"gpus": 3', '"gpus": 1.5', "jobs[1].gpus: 1.5: "),
    "a negative weight": ("2.5", "-1", "jobs[1].weight: -1: "),
    "not finite": ("2.5", "NaN", "NaN: must be a finite number"),
    "an unknown objective": ('"lexicographic"', '"most"', "maximize: 'most': "),
    "a busy GPU below 0": ('"busy": [', '"busy": [-1, ', "busy[0]: -1: "),
    "another key": ('"busy"', '"taken"', "taken: "),
}


@pytest.mark.parametrize(("old", "new", "line"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_is_one_line(tmp_path: Path, old: str, new: str, line: str) -> None:
    """A file that breaks a rule is refused in one line that names field, value and rule."""
    assert line in refusal(tmp_path, to_json(two_racks(maximize="lexicographic")), old, new)
