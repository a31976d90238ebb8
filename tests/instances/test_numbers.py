"""Numbers that several generators draw, and records."""

import gzip
from pathlib import Path
from random import Random

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.files import noting_reads
from gsopt.scenario.job import Job
from instances.doublings import doublings
from instances.records import compressed_lines
from instances.speed_up import SpeedUp
from instances.triplets import LEAST_CAPACITY, MOST_EXCESS, triplets
from tests.effort import cases

MENU = [(1, 0.3), (3, 0.7), (4, 0.8), (6, 1.0), (9, 1.3), (12, 1.6), (24, 2.5)]
ELASTIC = Job(name="a", release_date=0, duration=60, gpus=6, menu=MENU)


@pytest.mark.parametrize(("gpus", "counts"), [(64, (6, 12, 24)), (23, (6, 12)), (6, (6,)), (5, (6,))])
def test_only_doublings_that_fit_and_are_in_the_menu_stay(gpus: int, counts: tuple[int, ...]) -> None:
    """Counts below the demand, other multiples and those that do not fit go; the demand always stays."""
    job = doublings(ELASTIC, gpus)

    assert job.counts == counts
    assert all(job.speed(count) == ELASTIC.speed(count) for count in counts)


def test_a_rigid_job_stays_as_it_is() -> None:
    """A job without a menu has nothing to leave out."""
    rigid = ELASTIC.model_copy(update={"menu": ()})

    assert doublings(rigid, 64) == rigid


def test_each_line_is_a_value(tmp_path: Path) -> None:
    """Lines are read in their order."""
    (tmp_path / "a.gz").write_bytes(gzip.compress(b'{"a": 1}\n7\n'))
    assert compressed_lines(tmp_path / "a.gz") == [{"a": 1}, 7]


@pytest.mark.parametrize(
    "data",
    [b"{}", gzip.compress(b"{"), gzip.compress(b"7")[:-3], gzip.compress(b"7\n" * 5_000_001)],
    ids=["not compressed", "no JSON", "cut short", "too long"],  # compressed bytes hold the time
)
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    """What is not compressed, cut short, no JSON, or too long is named."""
    (tmp_path / "a.gz").write_bytes(data)
    with pytest.raises(InvalidInput, match="compressed by gzip"):
        compressed_lines(tmp_path / "a.gz")


def test_reading_is_noted(tmp_path: Path) -> None:
    """A study that reads a recording remembers which one."""
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"7\n"))
    with noting_reads() as noted:
        compressed_lines(tmp_path / "a.gz")
    assert [*noted] == [str(tmp_path / "a.gz")]


def test_several_nodes_are_no_faster_than_one() -> None:
    """One GPU is 1, and as many GPUs on several nodes gain at most what they gain on one."""
    for seed in range(cases(80)):
        speed_up = SpeedUp.drawn(Random(seed))
        assert speed_up.on(1, 1) == 1
        assert all(speed_up.on(2, gpus) <= speed_up.on(1, gpus) for gpus in range(2, 17))


@pytest.mark.parametrize("excess", range(MOST_EXCESS + 1))
@pytest.mark.parametrize("capacity", range(LEAST_CAPACITY, LEAST_CAPACITY + 9))
def test_three_sizes_come_to_a_bin_and_the_excess(capacity: int, excess: int) -> None:
    """All sizes together are what was asked for, and each is between a quarter and half of a bin."""
    sizes = triplets(Random(1), bins=5, capacity=capacity, excess=excess)

    assert len(sizes) == 15
    assert sum(sizes) == 5 * (capacity + excess)
    assert all(capacity < 4 * size and 2 * size < capacity for size in sizes)


def test_the_same_random_numbers_give_the_same_sizes() -> None:
    """Sizes follow from the source of random numbers alone."""
    first, second, other = (triplets(Random(seed), bins=5, capacity=64, excess=0) for seed in (1, 1, 2))

    assert first == second != other


@pytest.mark.parametrize("excess", [-1, MOST_EXCESS + 1])
def test_an_excess_out_of_range_is_refused(excess: int) -> None:
    """A line names the excess and its range."""
    with pytest.raises(InvalidInput, match=f"excess: {excess}: must be between 0 and {MOST_EXCESS}"):
        triplets(Random(1), bins=1, capacity=16, excess=excess)
