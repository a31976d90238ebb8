"""Aryl: the paper's examples within a run, each reading, and random clusters with loans."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from formulations.allocation import exact
from gsopt.core.errors import InvalidInput
from gsopt.core.result import Result
from gsopt.problems.allocation import Allocation, AllocationSolution
from gsopt.problems.reclaiming import Reclaiming
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed, linear_menu
from gsopt.simulation.estimates import misjudging
from gsopt.testing import check_policy
from heuristics.policies.aryl.policy import aryl
from heuristics.reclaiming import greedy
from tests.effort import cases
from tests.gsopt.simulation.scenarios import rich_scenarios
from tests.heuristics.policies.aryl.builders import either, job, lent, machines_of, pools, preempted, run

_SECONDS: dict[str, Any] = {"interval": 1, "orchestrator_interval": 1}
_OF_TWO = linear_menu(2, range(2, 7))
_TABLE_2 = (
    Job(name="A", release_date=0, duration=150, gpus=2, menu=_OF_TWO),
    Job(name="B", release_date=0, duration=60, gpus=2, menu=_OF_TWO),
)
_TABLE_4 = (_TABLE_2[0].model_copy(update={"menu": linear_menu(2, [2, 3])}), _TABLE_2[1])
_EIGHT = Cluster.uniform(machines=1, gpus=8)


# The paper's examples


def test_table_4() -> None:
    """Of the four GPUs beside the base workers job A gets one, as is better there than favouring job B."""
    assert run(aryl, _EIGHT, *_TABLE_4, **_SECONDS).completion_times == (100, 24)


def test_table_3() -> None:
    """In Table 3 the knapsack gives A five GPUs and B three, which is worse than favouring B: 41.67 s."""
    times = run(aryl, _EIGHT, *_TABLE_2, **_SECONDS).completion_times
    assert times == (40 + Fraction(100, 6), 40)
    assert (times[0] + times[1]) / 2 == Fraction(145, 3)


def test_printed_weights_leave_gpus_idle() -> None:
    """Where base workers are charged again job B gets nothing in Table 4, and three GPUs stay idle."""
    times = run(aryl, _EIGHT, *_TABLE_4, weights="printed", **_SECONDS).completion_times
    assert times == (100, 60)


def _figure_5(**options: Any) -> tuple[list[str], list[tuple[Reclaiming, Sequence[str]]]]:
    """Replay Figure 5, in which two of six machines are asked for; give who is preempted, and the decisions."""
    told: list[tuple[Reclaiming, Sequence[str]]] = []
    alone = [(10, 1.0), (12, 1.0)]  # five workers of two GPUs; a sixth is worth nothing
    jobs = [
        job("a", 0, 100, 14, gpu_type="T4"),
        job("b", 1, 100, 8, gpu_type="T4"),
        job("c", 2, 100, 10, gpu_type="T4", menu=alone),
        job("filler", 3, 2, 4, gpu_type="T4"),
        job("d", 4, 100, 10, gpu_type="T4", menu=alone),
    ]
    replay = run(
        aryl, pools(0, 6), *jobs, events=lent(0, (10, -2), notice=5),
        on_reclaim=lambda *decided: told.append(decided), **{**_SECONDS, **options},
    )  # fmt: skip
    return preempted(replay), told


def test_figure_5() -> None:
    """The jobs stand as in Figure 5, and returning machines 1 and 2 preempts only job a."""
    victims, told = _figure_5()
    ((problem, servers),) = told
    assert {each.name: dict(each.workers) for each in problem.jobs} == {
        "0": {"t0": 7, "t1": 7}, "1": {"t2": 8}, "2": {"t3": 8, "t4": 2}, "4": {"t4": 2, "t5": 8}
    }  # fmt: skip
    assert (victims, servers) == (["a"], ("t0", "t1"))


def test_figure_5_by_gpu_fractions() -> None:
    """The cost that section 4 rejects takes machine 5 first, and preempts two jobs."""
    victims, told = _figure_5(reclaiming=partial(greedy, cost="gpu_fraction"))
    assert (sorted(victims), told[0][1]) == (["c", "d"], ("t4", "t3"))


@pytest.mark.parametrize("reclaiming", ["exact", "milp", "reverse_delete"])
def test_methods_of_reclaiming_by_name(reclaiming: str) -> None:
    """Any method of the decision decides, by its name."""
    assert _figure_5(reclaiming=reclaiming)[0] == ["a"]


# Loans


def test_loaned_machines_are_used() -> None:
    """A job that may run on T4 GPUs starts on them when they come, three times as slow."""
    jobs = [either("a", 0, 90, 8), either("b", 0, 99, 8)]
    speed = Speed(gpu_types={"T4": 3.0})
    times = run(aryl, pools(1, 1), *jobs, events=lent(1, (60, 1)), speed=speed, **_SECONDS).completion_times
    assert times == (90, 60 + 3 * 99)


def test_flexible_workers_are_released_first() -> None:
    """The machine with flexible workers only is returned; the job runs on with its base workers."""
    one = job("a", 0, 100, 4, 12, gpu_type="T4")
    replay = run(aryl, pools(0, 2), one, events=lent(0, (20, -1), notice=5), **_SECONDS)
    cluster = pools(0, 2)
    assert machines_of(replay, cluster, "a", 10) == {"t0": 4, "t1": 8}
    assert machines_of(replay, cluster, "a", 22) == {"t0": 8}  # one worker found room beside the base worker
    assert not preempted(replay)
    assert replay.completion_times == (20 + (100 - 20 * 3) / 2,)


@pytest.mark.parametrize(("grouping", "victims"), [(True, []), (False, ["a"])])
def test_grouping_saves_a_preemption(grouping: bool, victims: list[str]) -> None:
    """Base workers of two elastic jobs share a machine, so that the other one can be returned (Table 6)."""
    jobs = [job("a", 0, 100, 4, 8, gpu_type="T4"), job("b", 2, 150, 4, 8, gpu_type="T4")]
    events = lent(0, (20, -1), notice=5)
    replay = run(aryl, pools(0, 2), *jobs, events=events, grouping=grouping, **_SECONDS)
    assert preempted(replay) == victims


def test_machines_without_base_workers_come_first() -> None:
    """A method that chooses at random preempts nobody while machines without base workers are enough."""
    jobs = [job("a", 0, 50, 8, gpu_type="T4")]
    asked: list[Any] = []
    options = {"reclaiming": "random_choice", "on_reclaim": lambda *told: asked.append(told), **_SECONDS}
    events = lent(0, (20, -3), notice=5)
    assert not preempted(run(aryl, pools(0, 4), *jobs, events=events, **options))
    assert not asked
    run(aryl, pools(0, 4), *jobs, events=events, spare_first=False, **options)
    assert [len(problem.servers) for problem, _ in asked] == [4]


def test_a_preempted_job_starts_later_than_it_was_preempted() -> None:
    """A job that loses its machine waits until the next interval, even where another machine is empty."""
    jobs = [job("a", 0, 50, 8, gpu_type="T4"), job("b", 0, 60, 8, gpu_type="T4")]
    replay = run(
        aryl, pools(0, 3), *jobs, events=lent(0, (10, -2), notice=5), interval=5, orchestrator_interval=1
    )
    assert preempted(replay) == ["a"]
    assert replay.completion_times == (60 + 50 - 10, 60)


def test_a_preempted_job_starts_again_though_nothing_happens() -> None:
    """The only job loses its machine and goes on at the next interval on another."""
    one = job("a", 0, 50, 8, gpu_type="T4")
    events = lent(0, (10, -1), notice=5)
    replay = run(aryl, pools(0, 2), one, events=events, spare_first=False, **_SECONDS)
    assert replay.completion_times == (50,)
    asked = {"reclaiming": lambda problem: greedy(problem.model_copy(update={"servers": problem.servers[:1]}))}
    replay = run(aryl, pools(0, 2), one, events=events, spare_first=False, **asked, **_SECONDS)
    assert replay.completion_times == (51,)


def test_requests_are_answered_at_the_orchestrators_interval() -> None:
    """A request waits for the orchestrator, unless its deadline comes before that is there again."""
    for notice, given_up in [(100, 30), (20, 7), (23, 7)]:
        replay = run(
            aryl, pools(0, 1), job("a", 0, 50, 8, gpu_type="T4"), interval=1, orchestrator_interval=30,
            events=[*lent(0, (7, -1), notice=notice), *lent(0, (200, 1))],
        )  # fmt: skip
        assert replay.schedule is not None
        assert [each.time for each in replay.schedule.vacated] == [given_up]


# Scheduling


def test_jobs_start_at_multiples_of_the_interval() -> None:
    """A job that arrives between two intervals starts at the next one."""
    first, second = job("first", 0, 10, 1, gpu_type=""), job("a", 61, 10, 1, gpu_type="")
    assert run(aryl, _EIGHT, first, second).completion_times == (10, 130)


def test_shortest_jobs_first() -> None:
    """Of the jobs that wait the shortest starts first, and one that does not fit is passed over."""
    jobs = [job("long", 0, 9, 8), job("wide", 0, 5, 8), job("short", 0, 4, 4), job("small", 0, 6, 2)]
    assert run(aryl, pools(1, 0), *jobs, **_SECONDS).completion_times == (20, 11, 4, 6)


def test_times_are_those_of_the_default_mode() -> None:
    """A job whose inference mode has three times the GPUs and the speed is not shorter for that."""
    large = Mode(name="inference", gpu_type="T4", menu=[(12, 3.0), (24, 6.0)])
    jobs = [job("a", 0, 50, 4, 8, modes=[large]), job("b", 0, 30, 4)]
    busy = [job("own", 0, 10, 4), job("lent", 0, 15, 24, gpu_type="T4", modes=[])]
    longer = job("longer", 0, 20, 24, gpu_type="T4")
    times = run(aryl, pools(1, 6, gpus=4), *jobs, *busy, longer, **_SECONDS).completion_times
    assert times[1] == 40


def test_flexible_workers_make_way() -> None:
    """A job starts on the GPUs of flexible workers, whose job runs on."""
    jobs = [job("a", 0, 80, 4, 8), job("b", 10, 5, 4)]
    assert run(aryl, pools(1, 0), *jobs, **_SECONDS).completion_times == (10 + 5 + (80 - 20 - 5) / 2 + 0, 15)


@pytest.mark.parametrize(("work", "times"), [("remaining", (60, 70)), ("full", (50, 75))])
def test_work_that_is_left_counts(work: str, times: tuple[float, ...]) -> None:
    """A job that is nearly done loses its flexible worker to a new one, unless all its work counts."""
    jobs = [job("old", 0, 100, 4, 8), job("new", 40, 60, 4, 8)]
    assert run(aryl, pools(1, 0, gpus=12), *jobs, work=work, **_SECONDS).completion_times == times


def test_preferred_pools() -> None:
    """Elastic jobs go to the inference pool, others to the training pool; to the other if it is full."""
    jobs = [either("elastic", 0, 50, 4, 8), either("plain", 0, 50, 8), either("second", 0, 60, 8)]
    cluster = pools(1, 2)
    replay = run(aryl, cluster, *jobs, **_SECONDS)
    held = [machines_of(replay, cluster, name, 1) for name in ("elastic", "plain", "second")]
    assert held == [{"t1": 8}, {"v0": 8}, {"t0": 8}]  # the largest workers are placed first
    naive = run(aryl, cluster, *jobs, grouping=False, **_SECONDS)
    assert machines_of(naive, cluster, "elastic", 1) == {"v0": 8}


def test_a_job_stays_on_one_pool() -> None:
    """Flexible workers stand in the pool of the base workers, even if the other is empty."""
    cluster = pools(1, 2)
    jobs = [either("a", 0, 50, 8, 16), job("b", 0, 60, 8, gpu_type="T4")]
    replay = run(aryl, cluster, *jobs, **_SECONDS)
    assert machines_of(replay, cluster, "a", 1) == {"t0": 8}


@pytest.mark.parametrize(("mixed", "held"), [(1.0, {"v0": 4, "t0": 4}), (1 / 0.7, {"v0": 8})])
def test_heterogeneous_jobs(mixed: float, held: dict[str, int]) -> None:
    """Base workers stand on training machines, and flexible ones on inference machines if that is faster."""
    cluster = pools(1, 1)
    speed = Speed(gpu_types={"T4": 3.0}, mixed=mixed)
    replay = run(aryl, cluster, job("a", 0, 50, 4, 8, gpu_type=""), speed=speed, **_SECONDS)
    assert machines_of(replay, cluster, "a", 1) == held


def test_heterogeneous_jobs_take_no_workers_that_slow_them_down() -> None:
    """Where only a few T4 GPUs are there, which would make the job slower than none, it has none."""
    cluster = pools(1, 2, gpus=4)
    speed = Speed(gpu_types={"T4": 3.0}, mixed=1 / 0.7)
    jobs = [job("a", 0, 60, 4, 12, gpu_type=""), job("b", 0, 10, 4, gpu_type="T4")]  # b takes 30 s
    replay = run(aryl, cluster, *jobs, speed=speed, **_SECONDS)
    assert machines_of(replay, cluster, "a", 1) == {"v0": 4}
    assert machines_of(replay, cluster, "a", 31) == {"v0": 4, "t0": 4, "t1": 4}


def test_heterogeneous_jobs_come_last() -> None:
    """A job that may run on any mixture leaves the training machines to a longer job that needs them."""
    jobs = [job("any", 0, 5, 8, gpu_type=""), job("own", 0, 50, 8)]
    assert run(aryl, pools(1, 1), *jobs, **_SECONDS).completion_times == (5, 50)
    assert run(aryl, pools(1, 0), *jobs, **_SECONDS).completion_times == (5, 55)


def test_normalised_capacity_is_that_of_both_pools() -> None:
    """In a single knapsack three T4 GPUs count as one V100 GPU, so a T4 job gets less than its pool has."""
    one = job("a", 0, 60, 2, 8, gpu_type="T4", step=1)
    assert run(aryl, pools(0, 1), one, **_SECONDS).completion_times == (15,)
    assert run(aryl, pools(0, 1), one, capacity="normalised", **_SECONDS).completion_times == (30,)


@pytest.mark.parametrize(
    "options", [{"placement": "exact"}, {"placement": "worst_fit"}, {"allocation": "exact"}]
)
def test_methods_by_name(options: dict[str, Any]) -> None:
    """Methods of placement and allocation decide by name; what they place is placed."""
    cluster = pools(2, 2)
    jobs = [either("a", 0, 50, 4, 12), either("b", 0, 60, 8), job("c", 0, 30, 2), job("d", 5, 20, 8)]
    times = run(aryl, cluster, *jobs, **_SECONDS).completion_times
    assert run(aryl, cluster, *jobs, **options, **_SECONDS).completion_times == times


def test_the_solver_is_an_argument() -> None:
    """Knapsacks of workers of two and of three GPUs go to the given solver, by default to the exact method."""
    solved: list[Allocation] = []

    def solver(problem: Allocation) -> Result[AllocationSolution]:
        solved.append(problem)
        return exact(problem)

    jobs = [job("a", 0, 60, 2, 6), job("b", 0, 60, 3, 6)]
    times = [
        run(aryl, pools(1, 0, gpus=12), *jobs, solver=each, **_SECONDS).completion_times
        for each in (None, "exact", solver)
    ]
    assert times[0] == times[1] == times[2]
    assert [job.gpus_per_worker for job in solved[0].jobs] == [2, 3]


def test_schedulers_by_name_and_made() -> None:
    """A scheduler is named with its options, made for the run, or given."""
    jobs = [job("long", 0, 9, 8), job("short", 0, 4, 8)]
    expected = (9, 13)
    for options in ({"scheduler": "fifo"}, {"scheduler": "fifo", "scheduler_options": {"blocks": False}}):
        assert run(aryl, pools(1, 0), *jobs, **options, **_SECONDS).completion_times == expected


def test_wrong_estimates_change_the_order_only() -> None:
    """With estimates far from the truth all jobs complete, in another order."""
    jobs = [job(name, 0, 5 + index, 8, 16) for index, name in enumerate("abcdef")]
    policy = misjudging(aryl, factor=8.0, seed=1)
    times = run(policy, pools(1, 0), *jobs, **_SECONDS).completion_times
    assert sorted(times) != list(times)
    assert max(times) == sum(each.duration for each in jobs)


# Everything else


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"interval": 0}, "interval: 0: must be a finite number of seconds, at least 1e-06"),
        ({"orchestrator_interval": float("inf")}, "orchestrator_interval: inf: must be"),
        ({"weights": "none"}, "weights: 'none': must be one of corrected, printed"),
        ({"work": "some"}, "work: 'some': must be one of remaining, full"),
        ({"capacity": "all"}, "capacity: 'all': must be one of pools, normalised"),
        ({"normalisation": 0.5}, "normalisation: 0.5: must be a number, at least 1"),
        ({"weights": "printed", "allocation": "dp"}, "allocation: 'dp': must be None"),
        ({"scheduler": "none"}, "scheduler: 'none': must be two_phase, or one of"),
        ({"scheduler_options": {"blocks": True}}, "scheduler_options: {'blocks': True}: must be None"),
        ({"interval": 5e-324}, "interval: 5e-324: must be a finite number of seconds, at least 1e-06"),
        ({"reclaiming": "none"}, "reclaiming: 'none': must be one of"),
        ({"placement": "none"}, "placement: 'none': must be one of"),
        ({"allocation": "none"}, "allocation: 'none': must be one of"),
        ({"solver": "none"}, "solver: 'none': must be one of"),
        ({"cluster": 8}, "cluster: 8 plain GPUs: must have machines"),
    ],
)  # fmt: skip
def test_bad_options(options: dict[str, Any], line: str) -> None:
    """Each wrong option is refused in one line."""
    cluster = options.pop("cluster", _EIGHT)
    with pytest.raises(InvalidInput) as caught:
        run(aryl, cluster, *_TABLE_4, **options)
    assert str(caught.value).startswith(line)


_OPTIONS: list[dict[str, Any]] = [
    {},
    {"grouping": False},
    {"placement": "first_fit"},
    {"allocation": "marginal_greedy"},
    {"weights": "printed"},
    {"work": "full"},
    {"capacity": "normalised"},
    {"reclaiming": "random_choice", "spare_first": False},
    {"scheduler": "gandiva"},
    {"scheduler": "max_first"},
]


@settings(max_examples=cases(150), deadline=None)
@given(
    scenario=rich_scenarios(),
    options=st.sampled_from(_OPTIONS),
    intervals=st.sampled_from([(2, 5), (0.75, 0.75), (1, 3)]),
    inference=st.sampled_from(["old", ""]),
)
def test_runs_are_legal(
    scenario: Scenario, options: dict[str, Any], intervals: tuple[float, float], inference: str
) -> None:
    """Whatever machines come and go, runs are legal and all jobs complete."""
    assume(not scenario.cluster.is_plain)
    often: dict[str, Any] = {"interval": intervals[0], "orchestrator_interval": intervals[1]}
    check_policy(aryl, [scenario], inference=inference, **often, **options)
