"""Sensitivity to the network: keys by which waiting jobs are offered GPUs."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import Action, Start, State, Stop, simulate
from gsopt.simulation.parts.sensitivity import network_sensitivity, relative_sensitivity
from gsopt.simulation.parts.tiers import Tiers
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing

#: Two racks of one machine of four GPUs.
RACKS = Cluster.uniform(racks=2, machines=1, gpus=4)

SPEED = Speed(tiers={"cnn": TierPenalty(machine=1.0, rack=2.0, network=7.0)})


def after(seconds: float, gpus: dict[str, tuple[int, ...]], *, exact: bool = False) -> list[tuple[Any, Any]]:
    """List both kinds of priority of jobs that have run on GPUs for so long, their models being their names."""
    found: list[tuple[Any, Any]] = []
    names = list(gpus)

    def look(state: State) -> Iterable[Action]:
        tiers = Tiers(state)
        if state.now == seconds:
            jobs = range(len(names))
            found.extend(
                (network_sensitivity(state, job), relative_sensitivity(tiers, state, job)) for job in jobs
            )
            return map(Stop, jobs)
        return [Start(job, gpus[names[job]]) for job in state.arrived]

    jobs = [Job(name=name, release_date=0, duration=99, gpus=len(gpus[name]), model="cnn") for name in names]
    last = Job(name="last", release_date=seconds, duration=1, gpus=1)
    simulate(bundle([*jobs, last]), doing(look), cluster=RACKS, speed=SPEED, exact=exact)
    return found


def test_sensitivity_is_the_speed_that_a_job_has_had() -> None:
    """It is 1 for one GPU, 1/2 on a machine and 1/8 on the network; relative to the best tier 1, 1 and 1/4."""
    found = after(4, {"alone": (0,), "machine": (1, 2), "network": (3, 4)})
    assert found == [(1, 1), (0.5, 1), (0.125, 0.25)]


def test_sensitivity_does_not_depend_on_the_demand() -> None:
    """A job's time is that on the GPUs it demands."""
    assert after(3, {"two": (0, 1), "three": (4, 5, 6)})[0] == after(3, {"three": (4, 5, 6)})[0]


@pytest.mark.parametrize(("exact", "kind"), [(False, float), (True, Fraction)])
def test_sensitivities_that_differ_by_rounding_only_tie(exact: bool, kind: type) -> None:
    """After any time the speed is the same to the last digit, and exact in fractions."""
    found = [after(seconds, {"machine": (1, 2)}, exact=exact)[0][0] for seconds in (0.1, 0.7, 3.3)]
    assert set(found) == {0.5}
    assert all(isinstance(each, kind) for each in found)
