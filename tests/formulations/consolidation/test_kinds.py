"""Jobs that nothing tells apart."""

from fractions import Fraction

from formulations.consolidation.kinds import kinds
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster

CLUSTER = Cluster.uniform(racks=2, machines=2, gpus=4)


def of(
    *jobs: tuple[int, str, float], maximize: str = "value"
) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """Return demand, jobs and levels of the kinds of jobs with demand, model and weight."""
    problem = Consolidation(
        cluster=CLUSTER,
        jobs=[
            Job(name=str(n), gpus=gpus, model=model, weight=weight)
            for n, (gpus, model, weight) in enumerate(jobs)
        ],
        maximize=maximize,  # type: ignore[arg-type]  # one of the three
    )
    return [(kind.gpus, kind.jobs, kind.levels) for kind in kinds(problem, room=(4, 8, 16))]


def test_jobs_alike_are_one_kind() -> None:
    """Demand, model and weight alike make a kind, the most valuable for each GPU first."""
    found = of((4, "alexnet", 1.0), (4, "vgg11", 1.0), (4, "alexnet", 1.0), (4, "alexnet", 2.0))
    assert [jobs for _, jobs, _ in found] == [(3,), (1,), (0, 2)]


def test_levels_no_better_than_the_next_are_left_out() -> None:
    """A ResNet-50 gains nothing from a machine over a rack, and one GPU nothing from anything."""
    assert of((4, "resnet50", 1.0), (4, "vgg11", 1.0), (1, "vgg11", 1.0)) == [
        (1, (2,), (2,)),
        (4, (1,), (0, 1, 2)),
        (4, (0,), (1, 2)),
    ]


def test_levels_without_room_are_left_out() -> None:
    """Six GPUs fit on no machine, sixteen on no rack, and seventeen nowhere."""
    assert of((6, "vgg11", 1.0), (16, "vgg11", 1.0), (17, "vgg11", 1.0)) == [
        (6, (0,), (1, 2)),
        (16, (1,), (2,)),
    ]


def test_worthless_jobs_count_only_where_jobs_do() -> None:
    """A job of weight 0 is no kind, unless the number of jobs comes first."""
    assert of((2, "vgg11", 0.0)) == []
    assert of((2, "vgg11", 0.0), maximize="lexicographic") == [(2, (0,), (2,))]


def test_a_place_counts_as_the_next_level_of_equal_worth() -> None:
    """A ResNet-50 on a machine counts as one on a rack."""
    problem = Consolidation(cluster=CLUSTER, jobs=[Job(name="a", gpus=4, model="resnet50")])
    (kind,) = kinds(problem, room=(4, 8, 16))
    assert [kind.counted(level) for level in range(3)] == [1, 1, 2]
    assert kind.worths == (4 / Fraction("1.12"), 4 / Fraction("1.12"), 4 / Fraction("1.38"))
