"""Pollux: random clusters, menus and adaptive jobs, and what the decision is told of them."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.goodput import exact as proven
from gsopt.core.errors import InvalidInput
from gsopt.core.method import heuristic
from gsopt.core.result import Result
from gsopt.problems.goodput import Goodput, GoodputSolution
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import simulate
from gsopt.simulation.policy import Action, Assign, Start, State, Wake
from gsopt.testing import check_policy
from heuristics.goodput.table import Counts, SpeedupTable
from heuristics.policies.pollux.adapting import Adapting
from heuristics.policies.pollux.nodes import Nodes
from heuristics.policies.pollux.outlook import Caps, JobOutlook
from heuristics.policies.pollux.policy import pollux
from instances.scenarios import pollux as scenario
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION, adaptive, adaptive_scenarios
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, rich_scenarios
from tests.gsopt.simulation.scripts import doing, workload
from tests.heuristics.policies.shared import mixed, pieces, traces

#: A search of next to no time, whose decisions come soon.
QUICK: dict[str, Any] = {"interval": 1.0, "restart_time": 0.5, "population": 6, "generations": 4}

MENU = [(1, 1.0), (2, 1.9), (3, 2.7), (4, 3.4)]
TWO = Cluster.uniform(machines=2, gpus=4)


def is_alike(scenario: Scenario) -> bool:
    """Check whether all GPUs of a scenario are of one kind."""
    return len({(machine.gpu_type, machine.memory) for machine in scenario.cluster.machines}) <= 1


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    "scenarios", [plain_scenarios(), rich_scenarios(), adaptive_scenarios()], ids=["plain", "rich", "adaptive"]
)
def test_every_run_is_legal(scenarios: st.SearchStrategy[Scenario], exact: bool) -> None:
    """Whatever the jobs and the cluster, all complete, and the judge finds what the simulator booked."""

    @settings(max_examples=cases(16), deadline=None)
    @given(scenario=scenarios.filter(is_alike))
    def check(scenario: Scenario) -> None:
        assert check_policy(partial(pollux, exact=exact, **QUICK), [scenario], exact=False) == 1

    check()


def test_exact_decisions_end_after_a_limit() -> None:
    """With next to no time every decision is the best that is known by then, and all jobs complete."""
    jobs = bundle(Job(name=n, release_date=0, duration=600, gpus=1, menu=MENU) for n in "abcdefgh")
    run = simulate(jobs, partial(pollux, exact=True, limit=1e-6), cluster=TWO)

    assert max(run.completion_times) < 8 * 600


def test_the_limit_is_that_of_each_decision() -> None:
    """The solver is told how long it may take, or that there is no limit."""
    told: list[float | None] = []

    def watched(problem: Goodput, *, time_limit: float | None = None) -> Result[GoodputSolution]:
        told.append(time_limit)
        return proven(problem)

    jobs = workload((0, 60, 1))
    for limit in (2.5, None):
        simulate(jobs, partial(pollux, exact=True, solver=watched, limit=limit), cluster=TWO)

    assert told[:1] + told[-1:] == [2.5, None]


@pytest.mark.parametrize("better", ["exact", "greedy"])
def test_what_is_not_proven_is_taken_if_it_is_the_better(monkeypatch: pytest.MonkeyPatch, better: str) -> None:
    """Of the solution at the limit and the greedy one that which gives both jobs four GPUs, whichever it is."""

    def giving(most: int) -> Callable[..., Result[GoodputSolution]]:
        @heuristic
        def give(problem: Goodput, /, **_limit: float) -> GoodputSolution:
            counts = {job.name: min(most, job.max_gpus or most) for job in problem.jobs}
            return GoodputSolution(
                gpus={name: (count, 0) if name == "a" else (0, count) for name, count in counts.items()}
            )

        return give

    methods = {name: giving(4 if name == better else 1) for name in ("exact", "greedy")}
    monkeypatch.setattr(
        "heuristics.policies.pollux.policy.find_method", lambda _, name, **_options: methods[name]
    )
    jobs = bundle(Job(name=n, release_date=0, duration=600, gpus=1, menu=MENU) for n in "ab")
    run = simulate(jobs, partial(pollux, exact=True, limit=1.0), cluster=TWO, bound=False)
    assert max(run.completion_times) < 300


def test_everybody_runs_before_anybody_has_more() -> None:
    """Two jobs share four GPUs, and none has three while its speed-up of the second is lower."""
    jobs = bundle(Job(name=n, release_date=0, duration=600, gpus=1, menu=MENU) for n in "ab")
    for exact in (False, True):
        policy, four = partial(pollux, exact=exact, generations=20), Cluster.uniform(machines=1, gpus=4)
        run = simulate(jobs, policy, cluster=four, record=True)

        assert max(each.gpus for each in pieces(run)) == 2


def test_gangs_start_although_no_single_gpu_is_of_use() -> None:
    """A job that needs GPUs of two machines at once starts as soon as they are idle."""
    for exact in (False, True):
        policy = partial(pollux, exact=exact, generations=20)
        assert max(simulate(workload((0, 90, 3), (0, 50, 6)), policy, cluster=TWO).completion_times) <= 240


def test_gangs_start_after_the_shortest_search() -> None:
    """The search is begun with a candidate in which they run, so that it has not to be drawn."""
    run = simulate(workload((0, 9, 8)), pollux, cluster=TWO, population=2, generations=1)
    assert run.completion_times == (9.0,)


def test_a_search_goes_on_from_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search is given the candidates of the one before, for the jobs that are still there."""
    starts: list[list[list[list[int]]]] = []

    def found(table: SpeedupTable, start: Counts, random: Any, **options: Any) -> Counts:
        del random, options
        starts.append(start.tolist())
        front = np.zeros((2, *table.current.shape), dtype=np.int64)
        front[0, :, 0] = front[1, :, 1] = 1
        return front

    monkeypatch.setattr("heuristics.policies.pollux.policy.search", found)
    simulate(workload((0, 50, 1), (0, 100, 1)), pollux, cluster=TWO)

    assert starts[0] == [[[0, 0], [0, 0]]] * 2  # what they have, and gangs beside that
    assert starts[1] == [[[1, 0]], [[0, 1]], [[1, 0]], [[1, 0]]]


def test_decisions_are_taken_at_multiples_of_the_interval() -> None:
    """Nobody starts between them, also where somebody arrives after all have gone."""
    jobs = workload((7, 30, 1), (130, 30, 1), (170, 30, 1))
    for start, times in [(0.0, (60.0, 180.0, 180.0)), (None, (7.0, 187.0, 187.0))]:
        run = simulate(jobs, pollux, cluster=Cluster.uniform(machines=1, gpus=2), clock_start=start)

        assert run.start_times == times


def test_a_job_has_at_most_twice_what_it_had() -> None:
    """Alone on eight GPUs a job has 1, 2, 4 and then 8 of them."""
    menu = [(count, float(count)) for count in range(1, 9)]
    jobs = bundle([Job(name="a", release_date=0, duration=600, gpus=1, menu=menu)])
    for exact in (False, True):
        run = simulate(
            jobs, partial(pollux, exact=exact, restart_time=0.0, generations=20), cluster=TWO, record=True
        )

        assert [each.gpus for each in pieces(run)] == [1, 2, 4, 8]


def test_whoever_keeps_its_nodes_keeps_its_gpus() -> None:
    """While others come and go a job is not moved to other GPUs of the same machine."""
    jobs = workload((0, 100, 1), (0, 1000, 1), (0, 100, 1), (130, 100, 1))
    run = simulate(jobs, partial(pollux, exact=True), cluster=Cluster.uniform(machines=1, gpus=3), record=True)

    assert len({each.placement for each in pieces(run) if each.job == "j1"}) == 1


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"interval": 0}, "must be a finite number of seconds, at least"),
        ({"restart_time": -1}, "must be a number of seconds, at least 0"),
        ({"limit": 0}, "must be a positive, finite number of seconds"),
        ({"power": 0}, "must be a whole number from -10 to -1"),
        ({"population": 1}, "must be a whole number from 2 to 100,000"),
        ({"population": 100_001}, "must be a whole number from 2 to 100,000"),
        ({"generations": 0}, "must be a whole number from 1 to 100,000"),
        ({"most_gpus": 0}, "must be a whole number, at least 1"),
        ({"most_gpus": 1}, "must be at least the fewest GPUs of 'j0', 2"),
        ({"most_nodes": 0}, "must be a whole number, at least 1"),
        ({"seed": -1}, "must be a whole number, at least 0"),
        ({"solver": "best", "exact": True}, "must be one of .*exact, "),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], rule: str) -> None:
    """Each option is named with its value and rule, and so is a job that it rules out."""
    option, value = next(iter(options.items()))
    with pytest.raises(InvalidInput, match=f"^{option}: {value!r}: {rule}"):
        simulate(workload((0, 5, 2)), partial(pollux, **options), cluster=TWO)


def test_gpus_of_several_kinds_are_refused() -> None:
    """The decision knows one kind of GPU only."""
    jobs = workload((0, 5, 2))
    with pytest.raises(InvalidInput, match="cluster: GPUs of 2 kinds: must be alike"):
        simulate(jobs, pollux, cluster=mixed(2, "V100", "T4"))


def test_jobs_of_the_authors() -> None:
    """On one node the first three jobs of theirs are divided by exact decisions."""
    folder = traces()
    given = scenario(folder, number=6, jobs=3, nodes=1)
    run = simulate(given, partial(pollux, exact=True), round_length=60, bound=False)

    assert run.jct == (2266, 3195, 6857)


THREE = bundle(
    Job(name=n, release_date=r, duration=d, gpus=1)
    for n, r, d in [("a", 0, 100), ("b", 30, 200), ("c", 59, 10)]
)

CAPS = Caps(gpus=64, nodes=16)


def problems_of(gives: Any, *, machines: int = 2) -> list[tuple[float, Goodput]]:
    """Let a rule divide machines of one GPU among three jobs, and return every problem with its time."""
    found: list[tuple[float, Goodput]] = []

    def policy(state: State) -> Adapting:
        def divide(problem: Goodput) -> GoodputSolution:
            found.append((state.now, problem))
            return GoodputSolution(gpus=gives(problem, len(found)))

        return Adapting(state, divide, interval=60, caps=CAPS, power=-2, restart_time=20)

    simulate(THREE, policy, cluster=Cluster.uniform(machines=machines, gpus=1))
    return found


def in_order(problem: Goodput, number: int) -> dict[str, tuple[int, int]]:
    """Return the jobs that are listed first a GPU each."""
    del number
    return {job.name: ((1, 0), (0, 1))[place] for place, job in enumerate(problem.jobs[:2])}


def test_the_rule_is_told_of_jobs_in_the_order_of_their_service() -> None:
    """Who has had least comes first, then who was released first, with ages, holdings and restarts."""
    problems = problems_of(in_order)
    time, first = problems[1]
    _, second = problems[2]

    assert [each for each, _ in problems[:3]] == [0, 60, 120]
    assert (first.power, first.restart_time, first.nodes) == (-2, 20, (1, 1))
    assert time == 60
    assert [(job.name, job.age, tuple(job.current)) for job in first.jobs] == [
        ("b", 30, ()),
        ("c", 1, ()),
        ("a", 60, (1, 0)),
    ]
    assert [(job.name, job.restarts, tuple(job.current)) for job in second.jobs] == [
        ("a", 0, ()),
        ("b", 0, (1, 0)),
    ]


def test_every_later_start_is_a_restart() -> None:
    """A job that is moved or stopped and started again has restarted; one that keeps its GPUs has not."""

    def swapping(problem: Goodput, number: int) -> dict[str, tuple[int, int]]:
        names = sorted(job.name for job in problem.jobs)
        places = [(1, 0), (0, 1)] if number % 2 else [(0, 1), (1, 0)]
        return dict(zip(names, places, strict=False))

    restarts = [{job.name: job.restarts for job in problem.jobs} for _, problem in problems_of(swapping)]

    assert restarts[:3] == [{"a": 0}, {"a": 0, "b": 0, "c": 0}, {"b": 0, "c": 0}]
    assert restarts[3:5] == [{"b": 0}, {"b": 1}]  # b stayed at 120 s, and was moved at 180 s


def test_nothing_is_asked_while_nobody_is_there() -> None:
    """The rule is not asked before the first job, nor after the last one, nor without any GPU."""
    assert all(problem.jobs for _, problem in problems_of(in_order))


#: Jobs that may run on any number of GPUs.
WIDE = bundle(
    Job(name=n, release_date=0, duration=90, gpus=1, menu=[(count, 1.0) for count in range(1, 7)])
    for n in "abc"
)

#: The nodes of the jobs that are to run, by second.
Plans = list[dict[int, tuple[int, ...]]]


def seen(cluster: Cluster, plans: Plans, **physics: Any) -> list[Any]:
    """Let jobs run on the nodes that a list of plans names, one per second, and return where each is."""
    found: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        nodes = Nodes(state)
        if len(found) < len(plans):
            plan = plans[len(found)]
            places = nodes.places(state, plan)
            yield Assign(places)
            found.append((nodes.sizes, places, {job: nodes.vector(state, job) for job in plan}))
            yield Wake(state.now + 1)
        elif left := [job for job in range(len(state.jobs)) if state.remaining(job) > 0]:
            yield Assign({left[0]: 1})

    simulate(WIDE, doing(decide), cluster=cluster, bound=False, **physics)
    return found


def test_jobs_stand_where_their_vectors_say() -> None:
    """Every job has so many GPUs of each node, and no GPU has two jobs."""
    [(sizes, places, vectors)] = seen(Cluster.uniform(machines=2, gpus=4), [{0: (2, 1), 1: (2, 0), 2: (0, 3)}])

    assert sizes == [4, 4]
    assert vectors == {0: (2, 1), 1: (2, 0), 2: (0, 3)}
    assert sorted(gpu for gpus in places.values() for gpu in gpus) == list(range(8))


def test_an_unchanged_vector_keeps_its_gpus() -> None:
    """Whoever else moves, a job with the same numbers on the same nodes stays on the same GPUs."""
    plans: Plans = [{0: (1, 0), 1: (2, 0)}, {1: (2, 0), 2: (2, 4)}, {2: (2, 4), 0: (2, 0)}]
    first, second, third = seen(Cluster.uniform(machines=2, gpus=4), plans)

    assert first[1][1] == second[1][1]
    assert second[1][2] == third[1][2]
    assert set(third[1][0]).isdisjoint(third[1][2])


def test_gpus_that_have_gone_are_not_given() -> None:
    """Of machines with GPUs that are not there only the others count; those without any are no nodes."""
    changes = [CapacityChange(time=0, gpus=3), CapacityChange(time=0.5, gpus=8)]
    cluster = Cluster.uniform(machines=2, gpus=4)
    less, more = seen(cluster, [{0: (3,)}, {0: (3, 0)}], capacity_changes=changes)

    assert (less[0], more[0]) == ([3], [4, 4])
    assert len(less[1][0]) == 3


def test_a_plain_cluster_is_one_node() -> None:
    """Its GPUs have no numbers, so places are counts."""
    [(sizes, places, vectors)] = seen(Cluster.plain(5), [{0: (2,), 1: (3,)}])

    assert (sizes, places) == ([5], {0: 2, 1: 3})
    assert vectors == {0: (2,), 1: (3,)}


PAIRS = Cluster.uniform(machines=2, gpus=2)


def looked_at(
    job: Job, look: Callable[[State, JobOutlook], Any], times: list[float], **physics: Any
) -> list[Any]:
    """Let a job run on what it demands from the beginning, and look at it at some times."""
    found, outlooks = list[Any](), list[JobOutlook]()

    def decide(state: State) -> Iterable[Action]:
        outlooks.extend(JobOutlook(state, each, CAPS) for each in state.arrived)
        if len(found) < len(times) and state.now >= times[len(found)]:
            found.append(look(state, outlooks[0]))
        if state.arrived:
            outlooks[0].note(job.gpus)
            yield Start(0, tuple(range(job.gpus)), outlooks[0].mode(job.gpus))
        if len(found) < len(times):
            yield Wake(times[len(found)])

    simulate(bundle([job]), doing(decide), cluster=PAIRS, bound=False, **physics)
    return found


def test_a_menu_is_relative_to_the_fair_share() -> None:
    """Rows hold what the menu says, on two nodes with the slowdown; later it may have twice as many."""
    menu = [(1, 1.0), (2, 1.5), (4, 2.0)]
    job = Job(name="a", release_date=0, duration=90, gpus=1, menu=menu, model="cnn")
    slower = Speed(tiers={"cnn": TierPenalty(machine=0.0, rack=1.0, network=1.0)})

    def look(state: State, outlook: JobOutlook) -> Any:
        return outlook.most(state), outlook.speedups(state, Nodes(state), 2)

    before, after = looked_at(job, look, [0.0, 10.0], speed=slower)

    assert before == (1, [[1 / 1.5]])
    assert after == (2, [[1 / 1.5, 1.0], [0.5]])


def test_numbers_on_which_it_does_not_run_are_worth_the_next_lower() -> None:
    """Such GPUs are taken away again, from the last nodes; below its fewest it has none."""
    job = Job(name="a", release_date=0, duration=90, gpus=2, menu=[(2, 1.0), (4, 1.5)])

    def look(state: State, outlook: JobOutlook) -> Any:
        vectors = [(1, 0), (1, 1), (2, 1), (2, 2), ()]
        return (
            outlook.fewest,
            [outlook.within(each) for each in vectors],
            outlook.speedups(state, Nodes(state), 1),
        )

    [_, (fewest, within, rows)] = looked_at(job, look, [0.0, 10.0])

    assert fewest == 2
    assert within == [(), (1, 1), (2, 0), (2, 2), ()]
    assert rows == [[0.0, 2.0], [2.0, 2.0, 3.0]]  # a fair share of one GPU would be half as fast as two


def test_an_adaptive_job_tells_what_it_has_learned() -> None:
    """Before it has measured anything GPUs count alike; then its own goodput does, on one node or several."""
    job = adaptive(Job(name="a", release_date=0, duration=9, gpus=1, menu=[(1, 1), (2, 1), (3, 1)]), 4)

    def look(state: State, outlook: JobOutlook) -> Any:
        trainee = state.trainee(0)
        assert trainee is not None
        expected = trainee.goodput([1, 1, 2], [1, 2, 2])
        return outlook.mode(1), outlook.speedups(state, Nodes(state), 2), expected

    physics = {"applications": {"cnn": APPLICATION}, "agents": Agents(interval=1)}
    (mode, unknown, nothing), (_, known, expected) = looked_at(job, look, [0.0, 2.0], **physics)

    assert (mode, nothing) == ("adaptive", None)
    assert unknown == [[0.5]]
    one, two, apart = expected.goodput.tolist()
    assert known == [[pytest.approx(one / two), pytest.approx(1.0)], [pytest.approx(apart / two)]]
