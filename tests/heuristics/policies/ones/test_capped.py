"""Capped: simple rules for jobs with elastic batch sizes."""

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import fifo, srtf
from heuristics.policies.ones.capped import capped
from instances.workloads import ones
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios

_RULES = ("shortest", "arrival", "share")


def _job(name: str, duration: float, release_date: float = 0, most: int = 3) -> Job:
    """Return a job that is as fast as it has GPUs, up to so many."""
    modes = [Mode(name=str(k), menu=[(k, float(k))], batch_size=8 * k) for k in range(2, most + 1)]
    return Job(name=name, release_date=release_date, duration=duration, gpus=1, batch_size=8, modes=modes)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("shortest", (7, 1, 4)),  # b on 3 and c on 1; from 1 on c on 3 and a on 1; from 4 on a on 3
        ("arrival", (4, 5, 25 / 3)),  # a on 3 until 4; b on 3 until 5; c on 3 from then on
        ("share", (6, 3, 19 / 3)),  # a on 2, b and c on 1; from 3 on a and c on 2; from 6 on c on 3
    ],
)
def test_by_hand(rule: str, expected: tuple[float, ...]) -> None:
    """Of three jobs on four GPUs each rule makes what it says."""
    jobs = bundle([_job("a", 12), _job("b", 3), _job("c", 10)])
    run = simulate(jobs, capped, cluster=4, rule=rule, exact=True)
    assert tuple(map(float, run.completion_times)) == pytest.approx(expected)


@settings(max_examples=cases(40), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_simulator_and_judge_agree(scenario: Scenario) -> None:
    """Whatever the jobs, overheads and changes of capacity, all that is booked is what the judge finds."""
    for rule in _RULES:
        assert check_policy(capped, [scenario], exact=False, rule=rule) == 1


def test_on_jobs_of_ones() -> None:
    """Jobs with elastic batch sizes complete under every rule, and the bound of their fastest modes holds."""
    given = Scenario(workload=ones(jobs=12, gpus=8, seed=3), cluster=Cluster.plain(8))
    for rule in _RULES:
        assert check_policy(capped, [given], exact=False, rule=rule) == 1


def test_rigid_jobs_of_one_gpu() -> None:
    """On jobs of one GPU that do not scale the rules are the classical ones."""
    jobs = bundle(Job(name=str(i), release_date=i % 4, duration=1 + 7 * i % 5, gpus=1) for i in range(9))
    for rule, classical in (("shortest", srtf), ("arrival", fifo)):
        ours = simulate(jobs, capped, cluster=2, rule=rule).completion_times
        assert ours == simulate(jobs, classical, cluster=2).completion_times


def test_no_such_rule() -> None:
    """A rule that is none is refused by name."""
    with pytest.raises(InvalidInput, match="rule: 'widest': must be one of shortest, arrival, share"):
        simulate(bundle([_job("a", 1)]), capped, cluster=1, rule="widest")
