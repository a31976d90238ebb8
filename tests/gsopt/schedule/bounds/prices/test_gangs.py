"""Surcharges around large gangs prove more than prices alone, and never more than the optimum."""

from itertools import product
from random import Random

import numpy as np
import pytest

import gsopt
from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule.bounds.prices import PriceBound, gangs, price_bound
from gsopt.schedule.bounds.prices.gangs import fullest
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle
from tests.unwrap import unwrap


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try few surcharges, which is enough for few jobs."""
    monkeypatch.setattr(gangs, "_EVALUATIONS", 150)


def _scenario(scale: float = 1.0, shift: float = 0.0, order: int = 1) -> Scenario:
    """Return a gang of two of four GPUs beside three jobs on one GPU, which come one after the other."""
    rows = [(0, 10, 2), (0, 10, 1), (0, 10, 1), (0, 10, 1), (10, 10, 1), (10, 10, 1), (10, 10, 1)]
    jobs = [
        Job(name=str(n), release_date=shift + scale * release, duration=scale * duration, gpus=size)
        for n, (release, duration, size) in enumerate(rows)
    ]
    return Scenario(workload=bundle(jobs[::order]), cluster=Cluster.plain(4))


def _optimum(scenario: Scenario) -> float:
    """Return the least mean JCT, proven by the solver."""
    jobs = [
        ElasticJob(name=job.name, release=job.release_date, work=job.duration, rates={job.gpus: 1.0})
        for job in scenario.workload.jobs
    ]
    result = gsopt.solve(Scheduling(gpus=scenario.cluster.gpus, jobs=jobs), time_limit=20)
    assert result.status == "optimal"
    return float(unwrap(result.objective))


def test_a_gang_waits_for_whole_gpus() -> None:
    """Of a gang and three jobs per ten seconds on a GPU less than they need, one waits, and others after it."""
    scenario = _scenario()
    alone, found = (price_bound(scenario, evaluations=300, gangs=number) for number in (0, 1))
    best = _optimum(scenario)

    assert alone.mean_jct < 11.2
    assert found.mean_jct > alone.mean_jct + 0.3
    assert found.mean_jct <= best * (1 + SUM)
    assert not alone.surcharges
    assert found.surcharges


def test_surcharges_around_two_gangs_add_up() -> None:
    """Surcharges around a second gang that is there at the same time raise the reported bound further."""
    rows = [(0, 2.1, 3), (0.1, 3.7, 4), (0.2, 1, 2), (0.3, 2.1, 4), (0.4, 1, 3), (0.5, 2.1, 2)]
    jobs = [Job(name=str(n), release_date=r, duration=d, gpus=k) for n, (r, d, k) in enumerate(rows)]
    scenario, heard = Scenario.of(Workload(jobs=jobs), 5), list[PriceBound]()
    one = price_bound(scenario, evaluations=60, cells=40, gangs=1).total_jct
    two = price_bound(scenario, evaluations=60, cells=40, gangs=2, on_progress=heard.append).total_jct
    assert two > one * 1.003
    assert [found.total_jct for found in heard if found.surcharges] == [one, two]


@pytest.mark.parametrize("compiled", [False, True])
def test_no_bound_is_above_the_optimum(compiled: bool) -> None:
    """Around any gangs, with weights, changes of capacity and any order of jobs, the optimum is no lower."""
    random, gained = Random(f"gangs {compiled}"), 0
    for _ in range(cases(20 if compiled else 5)):
        gpus, scale = random.randint(2, 5), 10.0 ** random.choice([-6, 0, 0, 5])
        jobs = [
            Job(
                name=str(n),
                release_date=scale * random.choice([0, 0, 1, 2.5, 4]),
                duration=scale * random.choice([1, 2, 2.75, 5, 8]),
                gpus=random.randint(1, gpus),
            )
            for n in range(random.randint(2, 5))
        ]
        scenario = Scenario.of(Workload(jobs=jobs), gpus)
        best = _optimum(scenario)
        alone = price_bound(scenario, evaluations=60, compiled=compiled)
        found = price_bound(scenario, evaluations=60, compiled=compiled, gangs=random.choice([1, 2, 9]))

        assert alone.mean_jct <= found.mean_jct <= best * (1 + SUM), scenario
        gained += found.mean_jct > alone.mean_jct * 1.001
        changed = scenario.model_copy(update={"capacity_changes": (CapacityChange(time=3 * scale, gpus=1),)})
        if all(job.gpus == 1 for job in jobs):
            assert price_bound(changed, evaluations=60, gangs=1).mean_jct >= alone.mean_jct * (1 - SUM)
    assert gained


def test_the_fullest_packing_is_that_of_all_subsets() -> None:
    """The value is the largest of all sets of jobs that fit, and the chosen jobs have it and fit."""
    random = Random("packings")
    for _ in range(cases(300)):
        count, gpus = random.randint(1, 7), random.randint(1, 12)
        sizes = np.array([random.randint(1, gpus) for _ in range(count)])
        values = np.array([float(random.choice([0, 0, 1, 2, 3, 7.5, 1e-9, 1e9])) for _ in range(count)])
        total, chosen = fullest(sizes, values, gpus)

        subsets = [np.array(each, dtype=bool) for each in product([False, True], repeat=count)]
        assert total == max(float(values[each].sum()) for each in subsets if sizes[each].sum() <= gpus)
        assert sizes[chosen].sum() <= gpus
        assert values[chosen].sum() == pytest.approx(total, rel=1e-15)


def test_shift_scale_and_order() -> None:
    """Shifted and reordered jobs have the same bound, and scaled ones a scaled bound."""
    found = price_bound(_scenario(), evaluations=100, gangs=1).mean_jct
    for scale, shift, order in ((1, 1.7e9, 1), (2**-20, 0, 1), (2**20, 0, 1), (1, 0, -1)):
        other = price_bound(_scenario(scale, shift, order), evaluations=100, gangs=1).mean_jct
        assert other / scale == pytest.approx(found, rel=1e-3)


def test_rounds_and_weights_are_taken_into_account() -> None:
    """With surcharges, a bound in rounds is still higher than any time, and double weights double the sum."""
    scenario = _scenario()
    found = price_bound(scenario, evaluations=100, gangs=1)
    late = price_bound(scenario, evaluations=100, gangs=1, round_length=7.0)
    heavy = price_bound(scenario, evaluations=100, gangs=1, weights=[2.0] * 7)

    assert late.mean_jct > found.mean_jct
    assert heavy.total_jct == pytest.approx(2 * found.total_jct, rel=1e-3)


def test_no_time_is_spent_after_the_limit() -> None:
    """Without time, at most one point with surcharges is tried."""
    found = price_bound(_scenario(), seconds=0, gangs=5)
    assert found.evaluations <= 2


def test_wrong_options_are_refused() -> None:
    """A negative number is refused, and surcharges where jobs share GPUs or GPU types differ."""
    machines = Cluster.uniform(racks=1, machines=2, gpus=2)
    shared = _scenario().model_copy(update={"cluster": machines, "share_limit": 2})
    for scenario, number in ((_scenario(), -1), (shared, 1)):
        with pytest.raises(InvalidInput, match=f"gangs: {number}: must be "):
            price_bound(scenario, gangs=number)
