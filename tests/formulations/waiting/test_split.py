"""The split check: GPUs that stay from start to end, where counts alone say that there are some."""

from formulations.waiting.instance import SlottedInstance, SlottedRun
from formulations.waiting.split import find_conflict, find_split
from gsopt.core.budget import Budget
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job


def rack_of_two(*jobs: tuple[int, int]) -> SlottedInstance:
    """Return jobs by run time and GPUs, in a rack of two machines of two GPUs, without penalties."""
    made = [Job(name=str(i), release_date=0, duration=d, gpus=g) for i, (d, g) in enumerate(jobs)]
    return SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=made))


def test_other_gpus_than_those_chosen_are_found() -> None:
    """Two jobs on a GPU each of both machines leave no machine to one of two GPUs: they are put together."""
    jobs = [
        Job(name=str(i), release_date=0, duration=d, gpus=g, model="resnet18")
        for i, (d, g) in enumerate([(4, 1), (4, 1), (2, 2)])
    ]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=jobs))
    split = find_split(instance, [SlottedRun(0, 0), SlottedRun(0, 1), SlottedRun(0, 0)], Budget())

    assert split is not None
    assert split[0].counts == split[1].counts != split[2].counts


def test_more_gpus_than_there_are_have_no_split() -> None:
    """Five GPUs at a time are not there; one after the other they are."""
    instance = rack_of_two((1, 3), (1, 2))

    assert find_split(instance, [SlottedRun(0, 2), SlottedRun(0, 2)], Budget()) is None
    found = find_split(instance, [SlottedRun(0, 2), SlottedRun(1, 2)], Budget())
    assert found is not None
    assert [sum((choice.counts or {}).values()) for choice in found] == [3, 2]


def test_a_long_job_keeps_its_gpus() -> None:
    """A job of three GPUs beside short ones of one holds the same GPUs to its end."""
    instance = rack_of_two((3, 3), (1, 1), (2, 1))
    found = find_split(instance, [SlottedRun(0, 2), SlottedRun(0, 0), SlottedRun(1, 1)], Budget())

    assert found is not None
    assert instance.problem.violations(instance.solution(found)) == []


def test_a_conflict_is_as_small_as_it_can_be_and_no_guess() -> None:
    """Jobs that could stay are left out of a conflict; without time nothing is called one."""
    instance = rack_of_two((1, 1), (1, 3), (1, 1), (1, 2))
    choices = [SlottedRun(0, 0), SlottedRun(0, 2), SlottedRun(0, 0), SlottedRun(0, 1)]

    assert find_conflict(instance, choices, Budget()) == [1, 3]
    assert find_conflict(instance, choices, Budget(time_limit=0.0)) is None
    assert find_conflict(instance, choices[:1], Budget()) is None
