"""The search of all orders: exact whatever the times, and every rule of what it leaves out is needless."""

from fractions import Fraction
from random import Random

import pytest

from formulations.waiting import search as search_module
from formulations.waiting.best import Best
from formulations.waiting.instance import SlottedInstance
from formulations.waiting.listing import search_lists
from formulations.waiting.search import DepthFirstSearch, PartialSchedule
from gsopt.core.budget import Budget
from gsopt.problems.waiting import CellShare, Waiting
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.speed import TierPenalty
from tests.effort import cases
from tests.exactness import waiting as oracle

RULES = ("is_hopeless", "is_twin", "is_seen")


def begun(problem: Waiting, *, worst: bool = False) -> Best:
    """Begin with lists, or with the worst schedule: in an order against the lengths, as far apart as can be."""
    best = Best(SlottedInstance.of(problem), Budget(), "test")
    if not worst:
        search_lists(best)
        return best
    order = sorted(range(len(problem.jobs)), key=lambda job: -problem.jobs[job].duration)
    best.take(problem.started([CellShare(job, _spread(problem, job)) for job in order]))
    return best


def _spread(problem: Waiting, job: int) -> dict[int, int]:
    """Return a job's GPUs in as many cells as there are, one after the other."""
    counts = dict.fromkeys(range(len(problem.cells)), 0)
    while sum(counts.values()) < problem.jobs[job].gpus:
        for cell, gpus in enumerate(problem.cells):
            if counts[cell] < len(gpus) and sum(counts.values()) < problem.jobs[job].gpus:
                counts[cell] += 1
    return {cell: count for cell, count in counts.items() if count}


def tiny(
    *jobs: tuple[float, float, int], racks: tuple[tuple[int, ...], ...], minimize: str = "mean_jct"
) -> Waiting:
    """Return jobs by release, run time and GPUs, all the worse for any distance, on machines by rack."""
    made = [Job(name=str(i), release_date=r, duration=d, gpus=g, model="m") for i, (r, d, g) in enumerate(jobs)]
    cluster = Cluster(
        racks=[
            Rack(name=f"r{r}", machines=[Machine(name=f"m{r}.{m}", gpus=g) for m, g in enumerate(rack)])
            for r, rack in enumerate(racks)
        ]
    )
    penalties = {"m": TierPenalty(machine=0.0, rack=0.5, network=2.0)}
    return Waiting.model_validate(
        {"cluster": cluster, "jobs": made, "penalties": penalties, "minimize": minimize}
    )


#: Instances on which a rule that leaves out one state too many leaves out the best schedule, with their optima.
TINY = [
    (tiny((0, 2, 1), (0, 1, 1), racks=((1,),)), 2),
    (tiny((0, 6, 1), (2, 2, 1), (2, 2, 1), racks=((1,),)), 6),
    (tiny((0, 6, 1), (1, 1, 1), (1, 2, 1), racks=((2,),)), Fraction(10, 3)),
    (tiny((0, 1, 1), (0, 2, 3), racks=((2, 1), (1,))), 2),
    (tiny((1, 2, 2), (0, 6, 1), racks=((2,), (1, 1))), 4),
    (tiny((1, 3, 3), (0, 4, 1), racks=((2, 1), (1,))), Fraction(17, 4)),
    (tiny((0, 1, 3), (0, 3, 2), (0, 2, 2), (1, 2, 1), racks=((1, 1), (1,))), Fraction(43, 8)),
    (tiny((1, 6, 2), (1, 3, 2), (0, 6, 1), racks=((1, 1), (1, 1)), minimize="makespan"), Fraction(21, 2)),
]


@pytest.mark.parametrize("off", [(), *((rule,) for rule in RULES), RULES])
def test_what_is_left_out_is_needless(off: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """With any rule switched off, or all, the optimum is the same, from the worst schedule on."""
    for rule in off:
        monkeypatch.setattr(DepthFirstSearch, rule, lambda *_: False)
    problems = [oracle.draw(Random(f"search {seed}")) for seed in range(cases(15))]
    for problem, optimum in [*TINY, *((problem, oracle.optimum(problem)) for problem in problems)]:
        best = begun(problem, worst=True)
        assert DepthFirstSearch(best).run(nodes=10**6)
        assert best.value == best.bound == optimum, problem


def _too_hopeless(self: DepthFirstSearch) -> Fraction:
    return LIMIT(self) - 1


def _serving_more(ready: list[int], area: int) -> int:
    return SERVED(ready, area) + 1


def _serving_from_now(ready: list[int], area: int) -> int:
    return -(-(area + sum(ready)) // len(ready))


def _same_demand(self: DepthFirstSearch, job: int, others: tuple[int, ...]) -> bool:
    return any(self.kinds[other][1] == self.kinds[job][1] for other in others)


def _same_but_for_length(self: DepthFirstSearch, job: int, others: tuple[int, ...]) -> bool:
    return any(self.kinds[other][:2] == self.kinds[job][:2] for other in others)


def _no_groups(_: DepthFirstSearch, state: PartialSchedule) -> object:
    return tuple(sorted(max(free, state.now) for cell in state.free for free in cell))


def _cells_alone(_: DepthFirstSearch, state: PartialSchedule) -> object:
    return tuple(sorted(tuple(max(free, state.now) for free in cell) for cell in state.free))


def _free_or_not(_: DepthFirstSearch, state: PartialSchedule) -> object:
    return tuple(sorted(tuple(free <= state.now for free in cell) for cell in state.free))


def _seen_at_all(self: DepthFirstSearch, state: PartialSchedule) -> bool:
    key = (state.now, frozenset(state.left), self._shape(state))
    found = key in self.seen
    self.seen[key] = state.paid
    return found


LIMIT = DepthFirstSearch.limit
SERVED = search_module.served

#: Rules that leave out too much, by where they belong.
WRONG = [
    ("limit", _too_hopeless),
    ("served", _serving_more),
    ("served", _serving_from_now),
    ("is_twin", _same_demand),
    ("is_twin", _same_but_for_length),
    ("_shape", _no_groups),
    ("_shape", _cells_alone),
    ("_shape", _free_or_not),
    ("is_seen", _seen_at_all),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG, ids=[wrong.__name__ for _, wrong in WRONG])
def test_one_state_too_many_is_noticed(name: str, wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any rule that leaves out more than it may gives a wrong value on some of these instances."""
    monkeypatch.setattr(search_module if name == "served" else DepthFirstSearch, name, wrong)
    found = []
    for problem, optimum in TINY:
        best = begun(problem, worst=True)
        DepthFirstSearch(best).run(nodes=10**6)
        found.append(best.value == optimum)
    assert not all(found)


@pytest.mark.parametrize("minimize", ["mean_jct", "makespan"])
def test_magnitudes_in_one_instance(minimize: str) -> None:
    """Run times from a nanosecond to thirty years, some of 17 digits, are proven exactly on today's clock."""
    times = (1e-9, 1e9, 1 / 3, 0.1, 1e9 + 1 / 3)
    problem = tiny(*((1.7e9 + 0.1 * i, d, 1 + i % 2) for i, d in enumerate(times)), racks=((1,), (2,)))
    problem = problem.model_copy(update={"minimize": minimize})
    best = begun(problem)

    assert DepthFirstSearch(best).run(nodes=10**5)
    assert best.value == best.bound == oracle.optimum(problem)


def test_it_gives_up() -> None:
    """What takes more states than allowed, or has more ways than are worth it, proves nothing."""
    problem = tiny(*((0, 1 + i, 1) for i in range(7)), racks=((1, 1, 1),))
    best = begun(problem, worst=True)
    bound = best.bound
    many = tiny((0, 1, 30), (0, 2, 30), racks=((10, 10, 10, 10, 10),))

    assert not DepthFirstSearch(best).run(nodes=20)
    assert best.bound == bound
    assert not DepthFirstSearch(begun(many, worst=True)).run(nodes=10**6)
