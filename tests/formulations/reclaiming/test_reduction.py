"""Merging alike jobs and alike servers."""

from fractions import Fraction
from math import gcd

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.reclaiming.reduction import Reduction, ServerGroup, reduce
from formulations.reclaiming.survival import survival
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.core.problem import Number
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from instances.reclaiming import server_uniform
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems

SERVERS = tuple(Server(name=f"s{number}", gpus=200) for number in range(1, 5))


def problem(*jobs: Job, **changes: object) -> Reclaiming:
    """Return a problem of four servers."""
    return Reclaiming(demand=2, servers=SERVERS, jobs=jobs).model_copy(update=changes)


def test_figure_5_becomes_three_jobs_and_five_groups() -> None:
    """Job b stands on one server and becomes its cost; servers 1 and 2 are alike."""
    reduction = reduce(figure_5())

    assert reduction.weights == (1, 1, 1)
    assert reduction.groups == (
        ServerGroup((0, 1), 0, (0,)),
        ServerGroup((2,), 1, ()),
        ServerGroup((3,), 0, (1,)),
        ServerGroup((4,), 0, (1, 2)),
        ServerGroup((5,), 0, (2,)),
    )


def test_jobs_on_the_same_servers_are_merged() -> None:
    """Two jobs on the same servers become one job with the sum of their costs."""
    reduction = reduce(
        problem(
            Job(name="a", workers={"s1": 1, "s2": 1}, cost=2),
            Job(name="b", workers={"s2": 3, "s1": 5}, cost=3),
        )
    )

    assert reduction.weights == (5,)
    assert [group.servers for group in reduction.groups] == [(0, 1), (2, 3)]


def test_a_job_without_cost_is_left_out() -> None:
    """A job that costs nothing needs no decision."""
    reduction = reduce(problem(Job(name="a", workers={"s1": 1, "s2": 1}, cost=0)))

    assert reduction.weights == ()
    assert reduction.groups == (ServerGroup((0, 1, 2, 3), 0, ()),)


def values(reduction: Reduction, given: Reclaiming) -> list[tuple[Exact, Number]]:
    """Return every choice of servers the reduction's value and the judge's, in the problem's numbers."""
    return [
        (reduction.number(reduction.value(reduction.counts(choice, given))), given.objective(choice))
        for choice in given.candidates()
    ]


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_every_choice_has_exactly_the_judges_value(given: Reclaiming) -> None:
    """With and without its constants the reduction gives every choice the judge's value, whatever the costs."""
    try:
        reduction = reduce(given)
    except Unsupported:
        return
    for each in (reduction, reduction.net()):
        assert all(mine == judged for mine, judged in values(each, given))


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_optimistic_reductions_never_cost_more(given: Reclaiming) -> None:
    """What is forgotten of sets of lost workers can only make a choice cheaper."""
    reduction = reduce(given, optimistic=True)

    assert all(mine <= judged for mine, judged in values(reduction, given))


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems())
def test_optimistic_reductions_forget_no_more_than_the_others(given: Reclaiming) -> None:
    """Jobs are preempted by their critical servers, and lose their GPUs on those of them that are kept."""
    reduction = reduce(given, optimistic=True)
    for choice in given.candidates():
        expected: Number = 0
        for job in given.jobs:
            critical = survival(job, given.elasticity).critical
            kept = sum(gpus for server, gpus in critical.items() if server not in choice.servers)
            if not critical.keys().isdisjoint(choice.servers):
                expected += given.cost_weight * decimal(job.cost)
                expected += kept if given.second_objective == "collateral" else 0

        assert expected == reduction.number(reduction.value(reduction.counts(choice, given)))


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems(), st.randoms(use_true_random=False))
def test_any_servers_of_a_group_will_do(given: Reclaiming, random: object) -> None:
    """Lifting the counts of a choice gives a feasible choice of the same value."""
    try:
        reduction = reduce(given)
    except Unsupported:
        return
    choice = random.choice(list(given.candidates()))  # type: ignore[attr-defined]
    lifted = reduction.lift(reduction.counts(choice, given), given)

    assert given.violations(lifted) == []
    assert given.objective(lifted) == given.objective(choice)


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_net_of_constants_all_costs_are_whole_and_coprime(given: Reclaiming) -> None:
    """No cost is negative, the cheapest server is free, nothing divides all costs, no value is too large."""
    try:
        reduction = reduce(given).net()
    except Unsupported:
        return
    own = [group.cost for group in reduction.groups]
    found = [reduction.value(reduction.counts(choice, given)) for choice in given.candidates()]

    assert min(own) == 0
    assert all(isinstance(cost, int) and cost >= 0 for cost in (*own, *reduction.weights))
    assert gcd(*own, *reduction.weights) in (0, 1)
    assert all(0 <= value <= reduction.largest for value in found)


@pytest.mark.parametrize(
    ("costs", "unit"),
    [
        ((), Fraction(1)),
        ((0.0,), Fraction(1)),
        ((63.0, 126.0), Fraction(63)),
        ((0.5, 0.75), Fraction(1, 4)),
        ((0.1, 1.1), Fraction(1, 10)),
        ((1e12, 5e-324), Fraction(5, 10**324)),
    ],
)
def test_the_unit_is_the_greatest_common_divisor(costs: tuple[float, ...], unit: Fraction) -> None:
    """The unit divides all costs as they are written."""
    jobs = [Job(name=f"j{number}", workers={"s1": 1}, cost=cost) for number, cost in enumerate(costs)]

    assert reduce(problem(*jobs)).unit == unit


def test_what_every_choice_pays_is_taken_out() -> None:
    """Of a hypergraph of jobs of 1.1 and a job of a million on every server whole small numbers remain."""
    plain = server_uniform(servers=60, jobs=60, degree=3, demand=20, seed=2)
    jobs = [job.model_copy(update={"cost": 1.1}) for job in plain.jobs]
    jobs += [Job(name=f"own-{server.name}", workers={server.name: 1}, cost=1e6) for server in plain.servers]
    reduction = reduce(plain.model_copy(update={"jobs": tuple(jobs)})).net()

    assert set(reduction.weights) == {1}
    assert (reduction.unit, reduction.base) == (Fraction(11, 10), 20_000_000)


def test_a_job_on_more_servers_than_may_be_kept_is_a_constant() -> None:
    """Where two of four servers are returned, a job on three of them is always preempted, one on two is not."""
    given = problem(
        Job(name="a", workers={"s1": 1, "s2": 1, "s3": 1}, cost=7), Job(name="b", workers={"s3": 1, "s4": 1})
    )
    reduction = reduce(given).net()

    assert (reduction.weights, reduction.base) == ((1,), 7)


def test_preempting_and_sparing_jobs_keeps_positions() -> None:
    """A preempted job is paid for, a spared job blocks its servers, and nothing changes its place."""
    rest = reduce(figure_5()).restricted(preempted=[1], spared=[2], kept=[0])

    assert rest.paid == 1
    assert rest.weights == (1, 1, 1)
    assert [group.servers for group in rest.groups] == [(), (2,), (3,), (), ()]
    assert [group.jobs for group in rest.groups] == [(), (), (), (), ()]


ELASTIC = (Job(name="a", workers={"s1": 4}, flexible={"s2": 4}),)


@pytest.mark.parametrize(
    ("elasticity", "second_objective", "jobs", "reason"),
    [
        ("fungible", "none", ELASTIC, "survives the loss of some sets of workers"),  # of either, not of both
        ("tagged", "collateral", ELASTIC, "depends on its flexible workers"),  # s2 counts unless returned
    ],
)
def test_what_cannot_be_merged_is_refused(
    elasticity: str, second_objective: str, jobs: tuple[Job, ...], reason: str
) -> None:
    """A problem that a fixed set of servers per job does not describe is refused with the reason."""
    given = problem(*jobs, elasticity=elasticity, second_objective=second_objective)

    with pytest.raises(Unsupported, match=reason):
        reduce(given)


@pytest.mark.parametrize("second_objective", ["none", "collateral"])
def test_elastic_jobs_are_merged_where_their_flexible_workers_do_not_matter(second_objective: str) -> None:
    """Fungible workers on one server, or on servers that all preempt, leave a fixed set of servers."""
    given = problem(
        Job(name="a", workers={"s1": 4}, flexible={"s1": 2}),
        Job(name="b", workers={"s1": 4, "s2": 4}, flexible={"s1": 1}),
        elasticity="fungible",
        second_objective=second_objective,
    )

    assert reduce(given).groups[0].jobs == (0,)
