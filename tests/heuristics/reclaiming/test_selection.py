"""Tests of taking servers in the order of their preemption cost."""

from collections.abc import Callable

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.preemption_cost import number_of_jobs, server_fractions
from heuristics.reclaiming.selection import cheapest_at_first, cheapest_first

both = pytest.mark.parametrize("select", [cheapest_first, cheapest_at_first])


def test_only_the_updated_costs_see_what_a_preemption_frees() -> None:
    """Once a job is gone its other server comes next if costs are updated, and only then."""
    problem = Reclaiming(
        demand=2,
        servers=tuple(Server(name=name, gpus=8) for name in ("s1", "s2", "s3")),
        jobs=(
            Job(name="a", workers={"s1": 1, "s2": 1}),
            Job(name="b", workers={"s2": 1}, cost=0.5),
            Job(name="c", workers={"s3": 1}, cost=0.75),
        ),
    )
    hosting = Hosting.of(problem)
    shares = server_fractions(hosting)

    assert cheapest_first(hosting, shares, 2, tie="index", seed=0) == [0, 1]
    assert cheapest_at_first(hosting, shares, 2, tie="index", seed=0) == [0, 2]


def test_a_free_job_does_not_make_a_server_come_twice() -> None:
    """A job of cost 0 changes no cost when it goes, and each of its servers is still taken once."""
    problem = Reclaiming(
        demand=3,
        servers=tuple(Server(name=name, gpus=8) for name in ("s1", "s2", "s3")),
        jobs=(Job(name="a", workers={"s1": 1, "s2": 1, "s3": 1}, cost=0.0),),
    )
    hosting = Hosting.of(problem)

    for tie in ("index", "fewest_jobs", "most_jobs"):
        taken = cheapest_first(hosting, number_of_jobs(hosting), 3, tie=tie, seed=0)
        assert sorted(taken) == [0, 1, 2]


@both
@pytest.mark.parametrize(
    ("tie", "expected"),
    [
        ("index", 0),  # the first of the three
        ("fewest_jobs", 2),  # one job of cost 2
        ("most_jobs", 1),  # two jobs of cost 1 and one of cost 0
    ],
)
def test_ties_are_broken_as_told(select: Callable[..., list[int]], tie: str, expected: int) -> None:
    """Of three servers of equal cost the one is taken that the tie-break asks for."""
    problem = Reclaiming(
        demand=1,
        servers=tuple(Server(name=name, gpus=8) for name in ("s1", "s2", "s3")),
        jobs=(
            Job(name="a", workers={"s1": 1}),
            Job(name="b", workers={"s1": 1}),
            Job(name="c", workers={"s2": 1}),
            Job(name="d", workers={"s2": 1}),
            Job(name="e", workers={"s2": 1}, cost=0.0),
            Job(name="f", workers={"s3": 1}, cost=2.0),
        ),
    )
    hosting = Hosting.of(problem)

    assert select(hosting, number_of_jobs(hosting), 1, tie=tie, seed=0) == [expected]


@both
def test_random_ties_reach_every_server(select: Callable[..., list[int]]) -> None:
    """Over the seeds each of the equally cheap servers is taken first, and one seed always takes the same."""
    problem = Reclaiming(demand=1, servers=tuple(Server(name=f"s{n}", gpus=8) for n in range(4)), jobs=())
    hosting = Hosting.of(problem)
    shares = number_of_jobs(hosting)
    first = [select(hosting, shares, 1, tie="random", seed=seed)[0] for seed in range(40)]

    assert set(first) == {0, 1, 2, 3}
    assert first == [select(hosting, shares, 1, tie="random", seed=seed)[0] for seed in range(40)]


@both
def test_an_unknown_tie_break_is_refused(select: Callable[..., list[int]]) -> None:
    """A word that is no tie-break raises, even when nothing is demanded."""
    problem = Reclaiming(demand=0, servers=(Server(name="s1", gpus=8),), jobs=())
    hosting = Hosting.of(problem)

    with pytest.raises(InvalidInput, match="tie: 'luck': must be one of index, random, fewest_jobs, most_jobs"):
        select(hosting, number_of_jobs(hosting), 0, tie="luck", seed=0)
