"""EASY and conservative backfilling: held against their definitions, a public program's runs, and promises."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gsopt import Job, Workload, simulate
from gsopt.core.errors import InvalidInput
from gsopt.evaluation.brackets import wait_brackets
from gsopt.evaluation.policies import compare_policies
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.simulation import Action, State
from gsopt.simulation.bracket import Bracket
from gsopt.testing import check_policy
from heuristics.policies import conservative_backfilling, easy_backfilling, fifo
from heuristics.policies.backfilling.profile import Profile, Slot
from heuristics.policies.estimated import estimated
from instances.traces import swf
from tests.effort import cases
from tests.exactness import backfilling as textbook
from tests.heuristics.policies.shared import traces

SHORTEST = partial(easy_backfilling, order="shortest")
POLICIES: list[Any] = [easy_backfilling, SHORTEST, partial(easy_backfilling, depth=3), conservative_backfilling]

#: Each policy with its definition.
DEFINED: list[tuple[Any, Callable[..., list[Any]]]] = [
    (fifo, textbook.fcfs),
    (easy_backfilling, textbook.easy),
    (SHORTEST, partial(textbook.easy, shortest=True)),
    (conservative_backfilling, lambda jobs, gpus: textbook.Conservative(jobs, gpus).run()),
]


def _drawn(random: Random) -> tuple[list[Job], int]:
    """Draw jobs of one magnitude with ties: with exact, too long or any estimates, and perhaps one far away."""
    gpus, most, scale = (
        random.randint(1, 6),
        random.choice([2, 4, 12]),
        10.0 ** random.choice([-9, -3, 0, 0, 3, 9]),
    )
    factors: list[float] = random.choice([[1.0], [1.0, 1.0, 2.0, 3.0, 5.0], [0.01, 0.5, 1.0, 2.0, 3.7]])
    jobs = []
    for number in range(random.randint(1, 9)):
        duration = random.randint(1, most) * scale * random.choice([1, 1, 1, random.uniform(1, 2)])
        release = random.choice([0, 1, 1]) * random.randint(0, most) * scale
        jobs.append(_job(number, release, duration, random.randint(1, gpus), duration * random.choice(factors)))
    if random.random() < 0.1:
        jobs[0] = jobs[0].model_copy(update={"release_date": 1e11})
    return jobs, gpus


def _job(name: object, release: float, duration: float, gpus: int, estimate: float | None = None) -> Job:
    least = None if estimate is None else max(estimate, 1e-9)
    return Job(name=str(name), release_date=release, duration=duration, gpus=gpus, estimate=least)


@pytest.mark.parametrize("shift", [0.0, 1.7e9])
def test_starts_are_those_of_the_definitions(shift: float) -> None:
    """On random small cases of all magnitudes, in floats and in fractions, every start is the textbook's."""
    random = Random(f"definitions {shift}")
    for _ in range(cases(60, least=20)):
        jobs, gpus = _drawn(random)
        moved = [job.model_copy(update={"release_date": job.release_date + shift}) for job in jobs]
        scenario = Scenario.of(Workload(jobs=moved), gpus)
        exact = random.random() < 0.5
        number: Any = Fraction if exact else float
        given = [
            textbook.Rigid(number(job.release_date), number(job.duration), number(job.estimate), job.gpus)
            for job in scenario.on_own_clock().workload.jobs
        ]
        for policy, definition in DEFINED:
            run = simulate(scenario, policy, exact=exact, bound=False)

            assert run.start_times == scenario.clock.all_nearest(definition(given, gpus))


def test_order_of_given_jobs_names_and_scale_do_not_matter() -> None:
    """Starts scale by powers of two, and jobs with other names start at the same times."""
    random = Random("scale")
    for _ in range(30):
        jobs, gpus = _drawn(random)
        jobs = [
            job for job in jobs if job.release_date < 1e11 and job.duration >= 1e-3 and job.estimate is not None
        ]
        exact = [job.model_copy(update={"estimate": 4 * job.duration}) for job in jobs]
        large = [
            _job(f"other {job.name}", 8 * job.release_date, 8 * job.duration, job.gpus, 32 * job.duration)
            for job in exact
        ]
        for policy in POLICIES:
            starts = simulate(Workload(jobs=exact), policy, cluster=gpus, bound=False).start_times

            scaled = simulate(Workload(jobs=large), policy, cluster=gpus, bound=False).start_times
            assert scaled == tuple(8 * start for start in starts)


class _Bracketed:
    """A decider that keeps the brackets of its policy after each decision."""

    preemptive = False

    def __init__(self, decider: Any, factor: float | None) -> None:
        self._decider, self._factor = decider, factor
        self.found: list[dict[int, Bracket]] = []

    def decide(self, state: State) -> Iterable[Action]:
        actions = list(self._decider.decide(state))
        self.found.append(dict(self._decider.brackets(state, self._factor)))
        return actions


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("factor", [1.0, 3.0, None])
def test_brackets_hold(policy: Any, factor: float | None) -> None:
    """No job starts outside any of its brackets, with exact estimates or ones that are too long."""
    random = Random(f"brackets {factor}")
    latest = 0
    for _ in range(15):
        gpus, jobs = random.randint(1, 6), []
        for number in range(random.randint(2, 12)):
            duration = float(random.randint(1, 9))
            over = 1 if factor == 1 else random.uniform(1, factor or 9)
            jobs.append(_job(number, random.randint(0, 9), duration, random.randint(1, gpus), duration * over))
        jobs.append(_job("first", 0, 1, 1, 1))
        watched: list[_Bracketed] = []

        def bracketed(state: State, watched: list[_Bracketed] = watched) -> _Bracketed:
            watched.append(_Bracketed(policy(state), factor))
            return watched[0]

        run = simulate(Workload(jobs=jobs), bracketed, cluster=gpus, bound=False)
        for found in watched[0].found:
            for job, bracket in found.items():
                assert bracket.earliest <= run.start_times[job]
                if bracket.latest is not None:
                    latest += 1
                    assert run.start_times[job] <= bracket.latest
                    assert factor != 1 or bracket.earliest == bracket.latest
    assert latest > 50


def test_a_bracket_of_a_drawn_estimate_knows_the_factor() -> None:
    """A drawn estimate is at most the factor times the running time, which bounds the start from below."""
    jobs = Workload(jobs=[_job("a", 0, 8, 2), _job("b", 1, 1, 2)])
    bracket = wait_brackets(jobs, at=2, cluster=2, overestimate=2, seed=3)["b"]

    assert bracket.latest is not None
    assert 2 < bracket.earliest <= 8 < bracket.latest < 16
    assert bracket.earliest == pytest.approx(bracket.latest / 2)
    assert wait_brackets(jobs, at=2, cluster=2) == {"b": Bracket(8, 8)}
    assert wait_brackets(jobs, at=8, cluster=2) == wait_brackets(jobs, at=9, cluster=2) == {}


def test_later_jobs_do_not_change_a_bracket() -> None:
    """A bracket depends on no job that is released after it."""
    jobs = [_job("a", 100, 8, 3, 10), _job("b", 101, 1, 4, 2), _job("c", 102, 3, 2, 3)]
    expected = {"b": Bracket(102.5, 110), "c": Bracket(102.5, 112)}
    for later in ([], [_job("d", 103, 1, 1, 9)]):
        assert wait_brackets(Workload(jobs=[*jobs, *later]), at=102.5, cluster=4) == expected
    under_easy = wait_brackets(Workload(jobs=jobs), easy_backfilling, at=102.5, cluster=4)
    assert under_easy == {"b": Bracket(102.5, 110), "c": Bracket(102.5, None)}


@pytest.mark.parametrize(
    ("options", "message"),
    [  # no time; a time before all; estimates that are shorter than the truth
        ({"at": None}, "at: None: must be a time in seconds"),
        ({"at": -1}, "at: -1: must be a time in seconds"),
        ({"at": 0, "factor": 0.5}, "factor: 0.5: must be a number of at least 1"),
        ({"at": 0, "policy": "fifo"}, "policy: fifo: must bracket waiting times"),
    ],
)
def test_brackets_refuse_bad_input(options: dict[str, Any], message: str) -> None:
    """A time or factor out of range is named in one line."""
    with pytest.raises(InvalidInput, match=message):
        wait_brackets(Workload(jobs=[_job("a", 0, 1, 1)]), cluster=1, **options)


def test_policies_refuse_bad_options() -> None:
    """An unknown order, no reservation, and estimates below the durations are refused."""
    one = Workload(jobs=[_job("a", 0, 1, 1)])
    given: list[tuple[Any, dict[str, Any]]] = [
        (easy_backfilling, {"order": "longest"}),
        (easy_backfilling, {"depth": 0}),
        (easy_backfilling, {"overestimate": 0.9}),
        (conservative_backfilling, {"overestimate": float("nan")}),
    ]
    for policy, options in given:
        with pytest.raises(InvalidInput, match=next(iter(options))):
            simulate(one, policy, cluster=1, **options)


def test_easy_may_delay_the_second_job_but_conservative_does_not() -> None:
    """A long narrow job delays the second waiting job under EASY, but not if that has a reservation, too."""
    jobs = Workload(jobs=[_job("a", 0, 4, 3), _job("b", 1, 2, 3), _job("c", 2, 2, 4), _job("long", 3, 9, 1)])

    def starts(policy: Any) -> tuple[float, ...]:
        return simulate(jobs, policy, cluster=4, bound=False).start_times

    assert starts(easy_backfilling) == (0, 4, 12, 3)
    assert starts(conservative_backfilling) == starts(partial(easy_backfilling, depth=2)) == (0, 4, 6, 8)


def test_shortest_first_changes_who_is_backfilled() -> None:
    """Of two jobs that could be backfilled, the first or the shortest is."""
    jobs = Workload(jobs=[_job("a", 0, 9, 3), _job("b", 1, 1, 4), _job("c", 2, 6, 1), _job("d", 2, 2, 1)])
    assert simulate(jobs, easy_backfilling, cluster=4, bound=False).start_times == (0, 9, 2, 10)
    assert simulate(jobs, SHORTEST, cluster=4, bound=False).start_times == (0, 9, 10, 2)


def test_late_jobs_are_expected_later() -> None:
    """A job that outlives its estimate blocks nobody for ever, and nobody starts on its GPUs."""
    jobs = Workload(jobs=[_job("a", 0, 1e6, 3, 1), _job("b", 0, 1, 4, 1), _job("c", 2, 50, 1, 50)])
    for policy in POLICIES:
        starts = simulate(jobs, policy, cluster=4, bound=False).start_times
        assert starts == (0, 1e6, 2)


def test_a_wrapper_and_a_trace_give_estimates(tmp_path: Path) -> None:
    """The requested time of a log is the estimate; otherwise it is the duration, as a wrapper shows it."""
    rows = [
        f"{n} 0 -1 10 1 -1 -1 -1 {asked} -1 1 1 1 1 1 1 -1 -1" for n, asked in enumerate([20, -1, 0], start=1)
    ]
    (tmp_path / "log.swf").write_text("\n".join(rows))
    assert [job.estimate for job in swf(tmp_path / "log.swf").workload.jobs] == [20, None, None]

    jobs = Workload(jobs=[_job("a", 0, 10, 3), _job("b", 0, 1, 4), _job("c", 0, 10, 1)])
    starts = simulate(
        jobs, estimated, of=easy_backfilling, factor=8, seed=1, cluster=4, bound=False
    ).start_times
    assert simulate(jobs, easy_backfilling, cluster=4, bound=False).start_times == (0, 10, 0)
    assert starts == (0, 10, 11)


@pytest.mark.parametrize("policy", POLICIES)
def test_runs_with_everything_are_legal(policy: Any) -> None:
    """Runs with GPUs that come and go, overheads, rounds, types and memory are legal and complete."""
    machines = [
        Machine(name="m0", gpus=4, gpu_type="a", memory=10),
        Machine(name="m1", gpus=2, gpu_type="b", memory=20),
    ]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    random, scenarios = Random("legal"), []
    for _ in range(cases(30)):
        jobs = [
            _job(n, random.randint(0, 20), random.randint(1, 9), random.randint(1, 4), random.randint(1, 20))
            for n in range(12)
        ]
        going = [CapacityChange(time=6, gpus=2), CapacityChange(time=15, gpus=4)]
        scenarios.append(
            Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(4), capacity_changes=going)
        )
        overheads = {"": Overhead(start=0.5)}
        scenarios.append(Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(4), overheads=overheads))
        typed = []
        for job in jobs:
            kind = random.choice(["", "a", "b"])
            update = (
                {"gpu_type": kind, "memory": random.choice([5, 15])} if job.gpus <= 2 and kind != "a" else {}
            )
            typed.append(job.model_copy(update=update))
        scenarios.append(Scenario(workload=Workload(jobs=typed), cluster=cluster))

    assert check_policy(policy, scenarios) == 2 * len(scenarios)
    for scenario in scenarios:
        run = simulate(scenario, policy, round_length=2, bound=False)
        assert run.metrics.completed == run.metrics.jobs


def test_a_profile_of_two_kinds_finds_the_first_slot() -> None:
    """The first slot of random profiles with two kinds is the first at which a scan of all steps finds room."""
    random = Random("kinds")
    for _ in range(300):
        profile, taken = Profile(0, (12, 12)), []
        for _ in range(random.randint(0, 6)):
            start = random.randint(0, 9)
            slot = Slot(start, start + random.randint(1, 5), (random.randint(0, 2), random.randint(0, 2)))
            profile.take(slot)
            taken.append(slot)
        kinds, count, length = (
            random.choice([(0,), (1,), (0, 1), (1, 0)]),
            random.randint(1, 24),
            random.randint(1, 6),
        )

        def least(begin: int, kind: int, length: int = length, taken: list[Slot] = taken) -> int:
            held = [
                sum(slot.gpus[kind] for slot in taken if slot.start <= time < slot.end)
                for time in range(begin, begin + length)
            ]
            return 12 - max(held)

        found = profile.earliest(count, kinds, length)
        rooms = [begin for begin in range(20) if sum(least(begin, kind) for kind in kinds) >= count]
        assert (found.start if found else None) == (rooms[0] if rooms else None)
        assert found is None or (
            sum(found.gpus) == count and all(found.gpus[k] <= least(found.start, k) for k in (0, 1))
        )
        assert profile.now(count, kinds, length) == (found if found and found.start == 0 else None)


@pytest.mark.parametrize("policy", POLICIES)
def test_evicted_jobs_start_again(policy: Any) -> None:
    """A job that is evicted when no GPU is free before or after starts again."""
    jobs = Workload(jobs=[_job("a", 0, 9, 2), _job("b", 0, 9, 2)])
    changes = [CapacityChange(time=5, gpus=2), CapacityChange(time=7, gpus=4)]
    run = simulate(jobs, policy, cluster=4, capacity_changes=changes)
    assert sorted(run.completion_times) == [9, 11]


@pytest.mark.parametrize("policy", POLICIES)
def test_jobs_too_short_for_the_clock_take_turns(policy: Any) -> None:
    """Jobs that are shorter than the resolution of the clock do not hold the same GPUs."""
    late = [_job(name, 1e11, 1e-9, 1) for name in ("b", "c", "d")]
    run = simulate(Workload(jobs=[_job("a", 0, 1, 1), *late]), policy, cluster=1, bound=False)
    assert len(set(run.start_times)) == 4


def test_a_second_reservation_is_no_promise() -> None:
    """If a job ends early, the first waiting job may start and delay the second, despite its reservation."""
    sizes = [(0, 4, 1, 12), (0, 4, 2, 4), (1, 1, 3, 3), (2, 3, 1, 3)]
    jobs = Workload(jobs=[_job(n, *size) for n, size in enumerate(sizes)])
    two = partial(easy_backfilling, depth=2)

    assert simulate(jobs, two, cluster=3, bound=False).start_times == (0, 0, 4, 5)
    assert wait_brackets(jobs, two, at=3, cluster=3) == {"2": Bracket(3, 12), "3": Bracket(3, None)}
    assert wait_brackets(jobs, at=3, cluster=3)["3"] == Bracket(3, 4)
    assert simulate(jobs, conservative_backfilling, cluster=3, bound=False).start_times[3] == 4


def test_an_exact_estimate_beside_one_of_unknown_quality() -> None:
    """Only jobs with exact estimates are certain not to end before their estimates."""
    jobs = [_job("a", 0, 8, 3), _job("b", 0, 4, 1, 20), _job("c", 1, 1, 2, 1), _job("d", 1, 1, 1, 1)]
    expected = {"c": Bracket(8, 8), "d": Bracket(2, 8)}
    assert wait_brackets(Workload(jobs=jobs), at=2, cluster=4) == expected


def test_comparisons_show_the_gap() -> None:
    """A comparison shows both policies with their proven gaps."""
    jobs = Workload(jobs=[_job("a", 0, 3, 3), _job("b", 0, 2, 4), _job("c", 0, 3, 1), _job("d", 0, 4, 1)])
    rows = compare_policies(jobs, ["fifo", "easy_backfilling", "conservative_backfilling"], cluster=4)
    assert [row.gap is not None and row.gap >= 0 for row in rows] == [True] * 3
    assert rows.rows[1].mean_jct < rows.rows[0].mean_jct


#: Sums of waiting times in pyss, the scheduler simulator of the Hebrew University of Jerusalem, ported to
#: Python 3. Each of the 18,066 jobs starts in the same second. With arrivals compressed and estimates up to
#: five times the running times, pyss decides once for each instant (see the page on systems); this is held on
#: the first 4,000 jobs here.
NASA = [
    (1.0, False, fifo, 145_997),
    (1.0, False, easy_backfilling, 73_468),
    (1.0, False, conservative_backfilling, 73_468),
    (0.6, True, easy_backfilling, 10_284_825),
    (0.6, True, SHORTEST, 9_704_326),
    (0.6, True, conservative_backfilling, 9_018_874),
]


@pytest.mark.parametrize(("load", "draws", "policy", "wait"), NASA)
def test_nasa_trace_as_in_pyss(load: float, draws: bool, policy: Any, wait: int) -> None:
    """On NASA's trace, the waiting times add up to those of a public simulator that agrees job by job."""
    random, jobs = Random(1), []
    for job in swf(traces()).workload.jobs[: 4000 if draws else None]:
        factor = random.uniform(1, 5) if draws else 1
        estimate = int(job.duration * factor)
        jobs.append(_job(job.name, int(load * job.release_date), job.duration, job.gpus, estimate))
    run = simulate(Workload(jobs=jobs), policy, cluster=128, bound=False)

    assert sum(start - job.release_date for start, job in zip(run.start_times, jobs, strict=True)) == wait
