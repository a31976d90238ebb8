"""What the models leave out: it changes no optimum, and whatever leaves out more is noticed."""

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import pytest

from formulations.consolidation.divisible import Divisible
from formulations.consolidation.laminar import Laminar
from formulations.consolidation.model import GroupModel
from formulations.consolidation.patterns import Patterns, maximal
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.speed import TierPenalty
from tests.exactness import consolidation as oracle
from tests.strategies.consolidation import tiny


def _every_level(
    problem: Consolidation, gpus: int, worths: Sequence[Any], room: Sequence[int]
) -> tuple[int, ...]:
    del problem
    return tuple(level for level in range(len(worths)) if gpus <= room[level])


def _every_pattern(demands: Sequence[int], free: int) -> Iterator[tuple[int, ...]]:
    for counts in product(*(range(free // demand + 1) for demand in demands)):
        if sum(count * demand for count, demand in zip(counts, demands, strict=True)) <= free:
            yield counts


#: Each rule by which something is left out: where it stands, and what leaves nothing out.
RULES: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "levels on which jobs are worth no more": (
        sys.modules["formulations.consolidation.kinds"],
        "_levels",
        _every_level,
    ),
    "patterns to which a job can be added": (
        sys.modules["formulations.consolidation.patterns"],
        "_extend",
        _every_pattern,
    ),
}

#: A model that is slower on each wider tier.
_SLOWER = {"x": TierPenalty(machine=0.1, rack=0.5, network=3.0)}


def _tight(busy: Sequence[int], *needs: int, weight: float = 1.0, **fields: Any) -> Consolidation:
    """Return jobs that just fit on two racks of two machines of four GPUs, some of which are busy."""
    jobs = [Job(name=str(each), gpus=gpus, model="x", weight=weight) for each, gpus in enumerate(needs)]
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    return Consolidation(cluster=cluster, busy=busy, jobs=jobs, penalties=_SLOWER, **fields)


TIGHT = [
    _tight([], 4, 4, 4, 4),
    _tight([0], 3, 4, 8),
    _tight([0, 4], 6, 8),
    _tight([0, 1], 14),
    _tight([], 3, 3, 1, 1, 8),
    _tight([8], 2, 2, 3, 4, 4),
    _tight([8], 2, 2, 3, 4, weight=0.0, maximize="lexicographic"),
]

#: Problems, and their optima by trying everything.
PROBLEMS = [(problem, oracle.optimum(problem)) for problem in [*(tiny(seed) for seed in range(20)), *TIGHT]]


@pytest.mark.parametrize("rule", ["none", *RULES])
@pytest.mark.parametrize("kind", [Divisible, Patterns, Laminar])
def test_what_is_left_out_changes_no_optimum(
    kind: type[GroupModel], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every model proves the best value, and so it does with each rule switched off."""
    maximal.cache_clear()
    if rule in RULES:
        monkeypatch.setattr(*RULES[rule])
    taken = 0
    for problem, optimum in PROBLEMS:
        try:
            found = kind()(problem)
        except Unsupported:
            continue
        assert (found.status, found.objective) == (Status.OPTIMAL, optimum), problem
        taken += 1
    maximal.cache_clear()
    assert taken > len(PROBLEMS) / 4
