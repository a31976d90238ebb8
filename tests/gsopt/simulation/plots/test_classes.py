"""Classes of jobs, each with a colour."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.simulation.plots.classes import Colour, classes_of
from tests.gsopt.simulation.plots.samples import large, schedule_of
from tests.gsopt.simulation.scenarios import bundle

JOBS = bundle(
    [
        Job(name="a", release_date=0, duration=100, gpus=1),
        Job(name="b", release_date=0, duration=100, gpus=4),
        Job(name="c", release_date=50, duration=10, gpus=65),
        Job(name="never", release_date=50, duration=10, gpus=1),
    ]
)
SCENARIO = Scenario(workload=JOBS, cluster=Cluster.plain(100))
SCHEDULE = Schedule(
    (
        Segment("a", 0, 60, 1),
        Segment("a", 80, 120, 1),  # 20 s without a GPU
        Segment("b", 100, 200, 4),
        Segment("c", 1050, 1060, 65),  # 1000 s late, for 10 s of work
    )
)


@pytest.mark.parametrize(
    ("colour", "labels"),
    [
        ("slowdown", {"a": "1.1 to 1.5", "b": "1.5 to 2", "c": "over 20"}),
        ("waiting", {"a": "1 s to 1 min", "b": "1 min to 10 min", "c": "10 min to 1 h"}),
        ("gpus", {"a": "1", "b": "3 to 4", "c": "over 64"}),
        ("job", {name: name for name in ("a", "b", "c", "never")}),
    ],
)
def test_jobs_are_sorted_by_what_became_of_them(colour: str, labels: dict[str, str]) -> None:
    """A job is in the class of its slowdown, its wait or its size; one that never ran is in none."""
    classes = classes_of(SCHEDULE, SCENARIO, colour)
    assert {name: classes.labels[number] for name, number in classes.of.items()} == labels
    assert len(set(classes.colours)) == len(classes.colours) == len(classes.labels)


@pytest.mark.parametrize("colour", [kind for kind in Colour if kind is not Colour.JOB])
def test_more_is_darker(colour: str) -> None:
    """Colours fall in lightness from class to class, so that they read in grey too."""
    colours = classes_of(SCHEDULE, SCENARIO, colour).colours
    lightness = [0.30 * red + 0.59 * green + 0.11 * blue for red, green, blue, _ in colours]
    assert lightness == sorted(lightness, reverse=True)


def test_many_jobs_are_not_told_one_from_the_other() -> None:
    """There are not as many colours as jobs of a trace."""
    run = large()
    with pytest.raises(InvalidInput, match="colour: 'job': tells at most 40 jobs apart"):
        classes_of(schedule_of(run), run.scenario, "job")


def test_an_unknown_meaning_is_refused() -> None:
    """A colour that means nothing is named with those that do."""
    with pytest.raises(InvalidInput, match="colour: 'age': must be one of slowdown, waiting, gpus, job"):
        classes_of(SCHEDULE, SCENARIO, "age")
