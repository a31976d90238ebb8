"""Merging alike jobs and alike servers."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.reclaiming.reduction import Group, Reduction, reduce
from gsopt.errors import Unsupported
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from gsopt.result import same
from tests.strategies.reclaiming import figure_5, reclaiming_problems

SERVERS = tuple(Server(name=f"s{number}", gpus=200) for number in range(1, 5))


def problem(*jobs: Job, **changes: object) -> Reclaiming:
    """Give a problem of four servers."""
    return Reclaiming(demand=2, servers=SERVERS, jobs=jobs).model_copy(update=changes)


def test_figure_5_becomes_three_jobs_and_five_groups() -> None:
    """Job b stands on one server and becomes its cost; servers 1 and 2 are alike."""
    reduction = reduce(figure_5())

    assert reduction.weights == (1.0, 1.0, 1.0)
    assert reduction.groups == (
        Group((0, 1), 0.0, (0,)),
        Group((2,), 1.0, ()),
        Group((3,), 0.0, (1,)),
        Group((4,), 0.0, (1, 2)),
        Group((5,), 0.0, (2,)),
    )


def test_jobs_on_the_same_servers_are_merged() -> None:
    """Two jobs on the same servers become one job with the sum of their costs."""
    reduction = reduce(
        problem(
            Job(name="a", workers={"s1": 1, "s2": 1}, cost=2),
            Job(name="b", workers={"s2": 3, "s1": 5}, cost=3),
        )
    )

    assert reduction.weights == (5.0,)
    assert [group.servers for group in reduction.groups] == [(0, 1), (2, 3)]


def test_a_job_without_cost_is_left_out() -> None:
    """A job that costs nothing needs no decision."""
    reduction = reduce(problem(Job(name="a", workers={"s1": 1, "s2": 1}, cost=0)))

    assert reduction.weights == ()
    assert reduction.groups == (Group((0, 1, 2, 3), 0.0, ()),)


def merged_value(reduction: Reduction, choice: ReclaimingSolution, given: Reclaiming) -> float:
    """Value that the reduction gives to a solution of the problem."""
    return reduction.value(reduction.counts(choice, given))


@settings(deadline=None, max_examples=100)
@given(reclaiming_problems())
def test_every_choice_has_the_judges_value(given: Reclaiming) -> None:
    """The reduction gives every choice of servers the value that the judge gives it."""
    try:
        reduction = reduce(given)
    except Unsupported:
        return
    for choice in given.candidates():
        assert same(given.objective(choice), merged_value(reduction, choice, given))


@settings(deadline=None, max_examples=100)
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


@settings(deadline=None, max_examples=100)
@given(reclaiming_problems())
def test_exact_costs_are_whole_steps(given: Reclaiming) -> None:
    """Where there is a step, the value of every choice is a whole multiple of it and exact in doubles."""
    try:
        reduction = reduce(given)
    except Unsupported:
        return
    if reduction.step is None:
        return
    for choice in given.candidates():
        assert (Fraction(given.objective(choice)) / reduction.step).denominator == 1
        assert given.objective(choice) == reduction.number(merged_value(reduction, choice, given))


@pytest.mark.parametrize(
    ("costs", "step"),
    [
        ((), Fraction(1)),
        ((0.0,), Fraction(1)),
        ((63.0, 126.0), Fraction(63)),
        ((0.5, 0.75), Fraction(1, 4)),
        ((0.1, 0.1, 0.1), None),  # three times 0.1 is no double
        ((1e12, 5e-324), None),
    ],
)
def test_the_step_is_the_greatest_common_divisor(costs: tuple[float, ...], step: Fraction | None) -> None:
    """The step divides all costs, and is missing where doubles cannot add them up."""
    jobs = [Job(name=f"j{number}", workers={"s1": 1}, cost=cost) for number, cost in enumerate(costs)]

    assert reduce(problem(*jobs)).step == step


@pytest.mark.parametrize(
    ("step", "bound", "rounded"),
    [
        (Fraction(1), 2.2, 3),
        (Fraction(1), 2.9999999, 3),
        (Fraction(1), 3.0000001, 3),  # a solver's tolerance, not a proof of 4
        (Fraction(1, 4), 0.3, Fraction(1, 2)),
        (Fraction(63), 64.0, 126),
        (None, 2.2, 2.2),
    ],
)
def test_bounds_are_rounded_to_whole_steps(step: Fraction | None, bound: float, rounded: object) -> None:
    """A bound is rounded up to the next possible value, or left alone where every value is possible."""
    assert Reduction(0, (), (), step).rounded_up(bound) == rounded


def test_preempting_and_sparing_jobs_keeps_positions() -> None:
    """A preempted job is paid for, a spared job blocks its servers, and nothing changes its place."""
    rest = reduce(figure_5()).restricted(preempted=[1], spared=[2], kept=[0])

    assert rest.offset == 1.0
    assert rest.weights == (1.0, 1.0, 1.0)
    assert [group.servers for group in rest.groups] == [(), (2,), (3,), (), ()]
    assert [group.jobs for group in rest.groups] == [(), (), (), (), ()]


ELASTIC = (Job(name="a", workers={"s1": 4}, flexible={"s2": 4}),)
COSTLY = tuple(Job(name=f"j{number}", workers={"s1": 1}, cost=1e12) for number in range(150))


@pytest.mark.parametrize(
    ("elasticity", "second_objective", "jobs", "reason"),
    [
        ("fungible", "none", ELASTIC, "survives the loss of some sets of workers"),  # of either, not of both
        ("tagged", "collateral", ELASTIC, "depends on its flexible workers"),  # s2 counts unless returned
        ("tagged", "collateral", COSTLY, "costs of this size"),  # the objective has more than 53 bits
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
