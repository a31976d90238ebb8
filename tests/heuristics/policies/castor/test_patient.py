"""Patience: the two sums are what comes true if nobody else comes, and the smaller one decides."""

from fractions import Fraction
from random import Random

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.simulation import Decider, Start, State, replay
from gsopt.simulation.parts.partners import Match
from heuristics.policies import sjf_bsbf
from heuristics.policies.castor.colocating import Colocating
from heuristics.policies.castor.patient import Patience, Patient
from tests.effort import cases


def drawn(random: Random) -> Scenario:
    """Draw jobs that fill a machine, and a last one that may share with several of them."""
    sizes = [random.randint(1, 3) for _ in range(3)]
    jobs = [
        Job(name=f"j{i}", release_date=0, duration=random.uniform(2, 20), gpus=size, model=f"j{i}")
        for i, size in enumerate(sizes)
    ]
    wanted = random.randint(1, sum(sizes))
    halves = Mode(name="halves", menu=[(wanted, 0.5)], steps=2)
    seconds = random.uniform(1, 20)
    new = Job(name="new", release_date=1, duration=seconds, gpus=wanted, model="new", modes=[halves])
    jobs.append(new)
    slowdowns = {
        one.name: {other.name: random.choice((1.0, 1.25, 1.5, 3.0)) for other in jobs if other != one}
        for one in jobs
    }
    return Scenario(
        workload=Workload(jobs=jobs),
        cluster=Cluster.uniform(machines=1, gpus=sum(sizes)),
        speed=Speed(interference=slowdowns),
        share_limit=2,
    )


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("now", [True, False])
def test_sums_come_true(now: bool, exact: bool) -> None:
    """Whether the new job shares or waits, it and its partners complete when it was said, in floats too."""
    for seed in range(cases(150)):
        scenario, said = drawn(Random(seed)), list[tuple[Fraction, set[int]]]()
        mode = "halves" if seed % 2 else ""

        def patience(state: State, start: Start, said: list[tuple[Fraction, set[int]]] = said) -> bool:
            assert isinstance(start.gpus, tuple)
            involved = {start.job, *(user for gpu in start.gpus for user in state.users(gpu))}
            sharing, waiting = Patient().sums(state, start)
            said.append((sharing if now else waiting, involved))
            return now

        def policy(state: State, patience: Patience = patience, mode: str = mode) -> Decider:
            return Colocating(state, float, lambda *pair: Match(pair[2], mode), patience=patience)

        run = replay(scenario, policy, exact=exact, record=True)
        assert run.schedule is not None
        ends = {segment.job: Fraction(segment.end) for segment in run.schedule.segments}
        total, involved = said[0]
        names = [scenario.workload.jobs[job].name for job in involved]
        expected = sum(ends[name] - 1 for name in names)
        assert total == expected if exact else float(total) == pytest.approx(float(expected))


@pytest.mark.parametrize("seconds", [13, 26, 29])
def test_rounding_ends_no_partner(seconds: float) -> None:
    """The other job has all of its rest before it, though floats leave a crumb of the new job's work."""
    jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 99), ("b", 1, seconds)]]
    scenario = Scenario(
        workload=Workload(jobs=jobs),
        cluster=Cluster.uniform(machines=1, gpus=1),
        speed=Speed(default_interference=1.37),
        share_limit=2,
    )
    said: list[float] = []

    def patience(state: State, start: Start) -> bool:
        said.append(Patient().sums(state, start)[0])
        return True

    def policy(state: State) -> Decider:
        return Colocating(state, float, lambda *pair: Match(rank=pair[2]), patience=patience)

    ends = replay(scenario, policy).completion_times
    assert seconds > seconds / (1 / 1.37) * (1 / 1.37)  # the crumb
    assert said == [pytest.approx(sum(end - 1 for end in ends if end is not None))]


def test_a_job_waits_for_gpus_that_are_free_sooner() -> None:
    """Castor shares with a job of 19 s though another GPU is free in a second; with patience it waits."""
    given = [("long", 0, 20), ("short", 0, 2), ("new", 1, 10)]
    scenario = Scenario(
        workload=Workload(jobs=[Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in given]),
        cluster=Cluster.uniform(machines=1, gpus=2),
        speed=Speed(default_interference=1.7),
        share_limit=2,
    )
    ends = [
        replay(scenario, lambda state, wait=wait: sjf_bsbf(state, wait_for=wait)).completion_times
        for wait in ("partner", "gpus")
    ]

    assert ends == [(27, 2, 18), (20, 2, 12)]


def test_a_job_that_disturbs_nobody_starts() -> None:
    """Beside somebody whom it does not slow down a job does not wait, nor does it where all GPUs are free."""
    jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 5), ("b", 1, 2)]]
    scenario = Scenario(
        workload=Workload(jobs=jobs), cluster=Cluster.uniform(machines=1, gpus=1), share_limit=2
    )

    assert replay(scenario, lambda state: sjf_bsbf(state, wait_for="gpus")).completion_times == (5, 3)
