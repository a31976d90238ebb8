"""Local search from a choice of servers."""

import pytest
from hypothesis import given, settings

from formulations.reclaiming.growth import grown
from formulations.reclaiming.local_search import improved
from formulations.reclaiming.reduction import Reduction, reduce
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.problems.reclaiming import Reclaiming
from heuristics.reclaiming import greedy, reverse_delete
from instances.reclaiming import server_uniform
from tests.effort import cases
from tests.strategies.reclaiming import reclaiming_problems


def first_servers(reduction: Reduction) -> list[int]:
    """Count the first servers by group, as many as are demanded."""
    left, counts = reduction.demand, []
    for group in reduction.groups:
        counts.append(min(left, len(group.servers)))
        left -= counts[-1]
    return counts


@settings(deadline=None, max_examples=cases(150))
@given(reclaiming_problems())
def test_the_choice_is_feasible_and_no_worse(problem: Reclaiming) -> None:
    """From any choice the search leads to one of as many servers that costs no more, with any costs."""
    try:
        reduction = reduce(problem).net()
    except Unsupported:
        return
    begin = first_servers(reduction)
    counts = improved(reduction, begin, Budget(), patience=2)

    assert sum(counts) == reduction.demand
    assert all(0 <= count <= len(group.servers) for count, group in zip(counts, reduction.groups, strict=True))
    assert reduction.value(counts) <= reduction.value(begin)


DENSE = [
    server_uniform(servers=servers, jobs=servers, degree=degree, demand=servers // 3, seed=1)
    for servers in (60, 200)
    for degree in (3, 5, 8)
]


@pytest.mark.parametrize("problem", DENSE, ids=lambda problem: problem.name)
def test_dense_hypergraphs_get_better_choices_than_the_heuristics(problem: Reclaiming) -> None:
    """Where Algorithm 1 and its improvement by reverse delete end, the search goes on."""
    reduction = reduce(problem).net()
    found = reduction.number(reduction.value(improved(reduction, grown(reduction, Budget()), Budget())))
    known = [method(problem).objective for method in (greedy, reverse_delete)]

    assert all(value is not None and found < value for value in known)


@pytest.mark.parametrize(
    ("servers", "jobs", "degree", "demand", "value"),
    [(60, 60, 5, 6, 15), (60, 60, 5, 18, 30), (100, 100, 3, 30, 34)],
)
def test_known_optima_of_dense_hypergraphs_are_found(
    servers: int, jobs: int, degree: int, demand: int, value: int
) -> None:
    """The search reaches optima that solvers of mixed-integer programs need seconds to minutes for."""
    reduction = reduce(server_uniform(servers=servers, jobs=jobs, degree=degree, demand=demand, seed=1)).net()

    assert value == reduction.value(improved(reduction, grown(reduction, Budget()), Budget()))


def test_the_same_seed_finds_the_same() -> None:
    """The search depends on its seed alone."""
    reduction = reduce(DENSE[2]).net()
    seen: list[list[list[int]]] = [[], []]
    for run in seen:
        improved(reduction, first_servers(reduction), Budget(), seed=4, on_better=run.append)

    assert seen[0] == seen[1]
    assert len(seen[0]) > 1


def test_each_better_choice_is_told_and_true_ends_the_search() -> None:
    """The choices told fall in cost, and the one that is answered by True is the last."""
    reduction = reduce(DENSE[2]).net()
    told: list[list[int]] = []

    def stop_at_third(counts: list[int]) -> bool:
        told.append(counts)
        return len(told) == 3

    counts = improved(reduction, first_servers(reduction), Budget(), on_better=stop_at_third)
    values = [reduction.value(each) for each in told]

    assert (counts, 3) == (told[-1], len(told))
    assert values == sorted(values, reverse=True)


def test_without_time_the_choice_stays() -> None:
    """A budget that has passed leaves the choice as it is."""
    reduction = reduce(DENSE[0]).net()
    begin = first_servers(reduction)

    assert begin == improved(reduction, begin, Budget(time_limit=0.0))
