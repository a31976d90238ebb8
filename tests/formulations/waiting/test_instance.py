"""Instances in slots: places without doubles, times rounded down, and the way there and back."""

from fractions import Fraction
from random import Random

from formulations.waiting.instance import Place, SlottedInstance, SlottedRun
from formulations.waiting.listing import place_all
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack
from gsopt.scenario.job import Job
from instances.waiting import tier_jobs
from tests.exactness import waiting as oracle


def test_places_that_hold_the_same_cells_are_one() -> None:
    """A rack of one machine, and a network of one rack, add no place."""
    job = Job(name="a", release_date=0, duration=1, gpus=1)
    one = SlottedInstance.of(Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=4), jobs=[job]))
    machine = Machine(name="m", gpus=4, islands=[Island(name="i", gpus=1), Island(name="k", gpus=3)])
    islands = SlottedInstance.of(
        Waiting(cluster=Cluster(racks=[Rack(name="r", machines=[machine])]), jobs=[job])
    )

    assert one.places == (Place(0, (0,), 4), Place(0, (1,), 4), Place(2, (0, 1), 8))
    assert islands.places == (Place(0, (0,), 1), Place(0, (1,), 3), Place(1, (0, 1), 4))


def test_slots_are_the_longest_that_divide_all_times() -> None:
    """Run times of 10.2, 11.3 and 20 s and a release half a second later are whole tenths of a second."""
    jobs = [
        Job(name=name, release_date=release, duration=10, gpus=2, model="alexnet")
        for name, release in [("a", 1.7e9), ("b", 1.7e9 + 0.5)]
    ]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=2), jobs=jobs))

    assert (instance.slot, instance.is_exact) == (Fraction(1, 10), True)
    assert (instance.origin, instance.release) == (1_700_000_000, (0, 5))
    assert instance.coarser(10).lengths == ((10, 11, 20),) * 2
    assert not instance.coarser(10).is_exact


def test_times_too_different_for_solvers_are_rounded_down() -> None:
    """A nanosecond beside thirty years are whole slots, too many for solvers, which get longer ones."""
    jobs = [
        Job(name=name, release_date=0, duration=seconds, gpus=1) for name, seconds in [("a", 1e-9), ("b", 1e9)]
    ]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs))
    near = SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs[:1]))

    assert (instance.is_exact, instance.lengths) == (True, ((1,) * 3, (10**18,) * 3))
    assert not instance.limited.is_exact
    assert instance.limited.lengths[0] == (0, 0, 0)
    assert 2 * instance.limited.lengths[1][0] <= 2**42
    assert near.limited is near


def test_a_schedule_is_the_same_there_and_back() -> None:
    """As choices and as a schedule again, nothing starts later than it did."""
    for seed in range(40):
        problem = oracle.draw(Random(seed))
        instance = SlottedInstance.of(problem)
        solution = instance.solution(_anyhow(instance))
        again = instance.solution(instance.choices(solution))
        assert {run.job: run.start for run in again.runs} == {run.job: run.start for run in solution.runs}


def _anyhow(instance: SlottedInstance) -> list[SlottedRun]:
    jobs = range(len(instance.demand))
    return place_all(instance, jobs, [9 for _ in jobs]) or []


def test_values_in_seconds() -> None:
    """The mean counts from each job's release, the makespan from the first one."""
    mean = SlottedInstance.of(tier_jobs(jobs=2, arrivals="poisson", seed=2))
    last = SlottedInstance.of(tier_jobs(jobs=2, arrivals="poisson", seed=2, minimize="makespan"))
    later = mean.exact_release[1]

    assert mean.value([10, 20]) == Fraction(30 - later) / 2
    assert last.value([10, 20]) == 20
