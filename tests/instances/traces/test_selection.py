"""The selection of a part of a trace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job
from instances.traces.reading import Issue, TraceRow
from instances.traces.selection import Entry, Selection, select


def entry(line: int, release_date: float, gpus: int = 1, **more: object) -> Entry:
    """Return a row with its job."""
    values = {"name": f"j{line}", "release_date": release_date, "duration": 60.0, "gpus": gpus}
    return TraceRow("a.csv", line, {}), Job.model_validate(values | more)


def names(entries: list[Entry], **selection: object) -> list[str]:
    """Return the names of the selected jobs."""
    return [job.name for job in select("a", "", entries, [], **selection).workload.jobs]  # type: ignore[arg-type]


TEN = [entry(line, 1000 + 10 * line, gpus=line) for line in range(1, 11)]


def test_the_first_release_is_second_0() -> None:
    """Without a window the clock begins with the first job."""
    reading = select("a", "made up", TEN, [])

    assert [job.release_date for job in reading.workload.jobs] == [10 * number for number in range(10)]
    assert (reading.workload.name, reading.workload.source) == ("a", "made up")
    assert reading.issues == ()


def test_a_window_is_half_open_and_begins_at_second_0() -> None:
    """The begin belongs to the window and is second 0; the end does not belong to it."""
    reading = select("a", "made up", TEN, [], window=(15, 40))

    assert [(job.name, job.release_date) for job in reading.workload.jobs] == [("j3", 5.0), ("j4", 15.0)]
    assert reading.workload.source == "made up, 15 to 40 s after the first release"
    assert names(TEN, window=(500, 600)) == []
    assert select("a", "made up", TEN, [], window="15:40s") == reading


def test_windows_are_a_partition() -> None:
    """Windows that touch share no job and leave none out."""
    assert names(TEN, window=(0, 30)) + names(TEN, window=(30, 1000)) == [job.name for _, job in TEN]


def test_the_busiest_period_has_most_releases() -> None:
    """Of all periods of a length the first with most releases is kept; its end does not belong to it."""
    dates = (1000, 1030, 1040, 1050, 1080, 1090, 1100)
    entries = [entry(line, date, gpus=9 - line) for line, date in enumerate(dates, start=1)]

    assert names(entries, busiest=21) == ["j2", "j3", "j4"]
    assert names(entries, busiest=20) == ["j2", "j3"]
    assert names(entries, busiest=1e9) == names(entries)
    assert select("a", "b", entries, [], busiest=21, max_gpus=6).workload.jobs[0].release_date == 10
    assert select("a", "b", entries, [], busiest=21).workload.source == "b, 30 to 51 s after the first release"
    assert names([], busiest=21) == []


@given(
    dates=st.lists(st.floats(0, 1e9), min_size=1, max_size=12),
    length=st.floats(1e-6, 1e9),
    begin=st.floats(0, 1e9),
)
def test_no_period_is_busier(dates: list[float], length: float, begin: float) -> None:
    """No period of that length, wherever it begins, has more releases than the one that is kept."""
    kept = names([entry(line, date) for line, date in enumerate(sorted(dates), start=1)], busiest=length)

    assert len(kept) >= sum(begin <= date < begin + length for date in dates)


def test_larger_jobs_are_dropped_and_reported() -> None:
    """A job with more GPUs than the cap is dropped, with its row."""
    reading = select("a", "", TEN, [], max_gpus=8)

    assert [job.gpus for job in reading.workload.jobs] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [(issue.row, issue.reason) for issue in reading.dropped] == [
        (9, "demands 9 GPUs, more than max_gpus 8"),
        (10, "demands 10 GPUs, more than max_gpus 8"),
    ]


def test_larger_jobs_are_capped_on_request() -> None:
    """With `cap` they are kept with fewer GPUs and their duration, and reported as repaired."""
    reading = select("a", "", TEN, [], max_gpus=8, cap=True)

    assert [job.gpus for job in reading.workload.jobs][-3:] == [8, 8, 8]
    assert {job.duration for job in reading.workload.jobs} == {60.0}
    assert [issue.reason for issue in reading.repaired] == [
        "demands 9 GPUs, more than max_gpus 8; capped at 8",
        "demands 10 GPUs, more than max_gpus 8; capped at 8",
    ]


def test_a_menu_loses_the_counts_above_the_cap() -> None:
    """A job that demands no more than the cap keeps its length and loses larger counts, without a report."""
    elastic = entry(1, 0, gpus=2, menu=((1, 0.5), (2, 1.0), (4, 1.5)))
    reading = select("a", "", [elastic], [], max_gpus=2)

    assert reading.workload.jobs[0].menu == ((1, 0.5), (2, 1.0))
    assert reading.workload.jobs[0].duration == 60
    assert reading.issues == ()


def test_a_capped_menu_is_measured_anew() -> None:
    """A capped job with a menu demands its largest allowed count, with the same work."""
    elastic = entry(1, 0, gpus=4, menu=((1, 0.25), (2, 0.5), (4, 1.0)))
    (job,) = select("a", "", [elastic], [], max_gpus=3, cap=True).workload.jobs

    assert (job.gpus, job.duration, job.menu) == (2, 120.0, ((1, 0.5), (2, 1.0)))


def test_a_menu_without_small_counts_cannot_be_capped() -> None:
    """A job that runs on no allowed count is dropped and reported, capped or not."""
    rigid = entry(1, 0, gpus=4, menu=((4, 1.0), (8, 1.5)))
    reading = select("a", "", [rigid], [], max_gpus=3, cap=True)

    assert reading.workload.jobs == ()
    assert [issue.reason for issue in reading.dropped] == ["demands 4 GPUs, more than max_gpus 3"]


def test_a_sample_is_drawn_without_return() -> None:
    """A sample has distinct jobs in the order of their release, the same for the same seed."""
    sampled = names(TEN, sample=4, seed=3)

    assert len(set(sampled)) == 4
    assert sampled == [job.name for _, job in TEN if job.name in sampled] == names(TEN, sample=4, seed=3)
    assert len({tuple(names(TEN, sample=4, seed=seed)) for seed in range(20)}) > 10
    assert names(TEN, sample=99) == [job.name for _, job in TEN]


def test_a_sample_is_taken_of_what_remains() -> None:
    """The sample is drawn last, from the jobs in the window and under the cap."""
    assert sorted(names(TEN, window=(10, 60), max_gpus=4, sample=3)) == ["j2", "j3", "j4"]


def test_the_first_of_equal_names_is_kept() -> None:
    """A job that was read before is dropped with the place of the first."""
    twice = [entry(2, 5), entry(3, 7, name="j2"), entry(4, 9)]
    reading = select("a", "", twice, [])

    assert [(job.name, job.release_date) for job in reading.workload.jobs] == [("j2", 0.0), ("j4", 4.0)]
    assert [str(issue) for issue in reading.dropped] == ["a.csv: row 3: job 'j2' is in row 2 of a.csv already"]


def test_disorder_is_reported_once() -> None:
    """Rows that are not in the order of their release dates are sorted and counted."""
    reading = select("a", "", [TEN[4], TEN[2], TEN[3], TEN[0]], [])

    assert [job.name for job in reading.workload.jobs] == ["j1", "j3", "j4", "j5"]
    (issue,) = reading.repaired
    assert (issue.row, issue.reason[-37:]) == (3, "first of 2 such rows; all were sorted")


def test_issues_are_those_from_before_and_new_ones_in_order() -> None:
    """Earlier issues and new ones are reported together, by row."""
    before = [Issue(file="a.csv", row=11, reason="x"), Issue(file="a.csv", row=3, reason="y")]

    assert [issue.row for issue in select("a", "", TEN, before, max_gpus=9).issues] == [3, 10, 11]


BAD_OPTIONS: dict[str, tuple[Selection, str]] = {
    "a window that ends before it begins": ({"window": (9, 5)}, "window"),
    "an empty window": ({"window": (5, 5)}, "window"),
    "a window before the trace": ({"window": (-5, 5)}, "window"),
    "a window without end": ({"window": (0, float("inf"))}, "window"),
    "no number": ({"window": (float("nan"), 5)}, "window"),
    "no GPUs": ({"max_gpus": 0}, "max_gpus"),
    "no sample": ({"sample": 0}, "sample"),
}


@pytest.mark.parametrize(("selection", "option"), BAD_OPTIONS.values(), ids=BAD_OPTIONS.keys())
def test_bad_options_are_refused(selection: Selection, option: str) -> None:
    """An option out of its range is refused in one line that names it."""
    with pytest.raises(InvalidInput, match=f"^{option}: .*: must "):
        select("a", "", TEN, [], **selection)


@given(
    releases=st.lists(st.integers(0, 50), max_size=20),
    window=st.none() | st.tuples(st.integers(0, 20), st.integers(21, 60)),
    max_gpus=st.none() | st.integers(1, 9),
    cap=st.booleans(),
    sample=st.none() | st.integers(1, 9),
)
def test_no_job_vanishes_without_a_reason(
    releases: list[int], window: tuple[float, float] | None, max_gpus: int | None, cap: bool, sample: int | None
) -> None:
    """Every job is kept, reported, outside the window, or not drawn."""
    entries = [entry(line, release, gpus=1 + line % 9) for line, release in enumerate(releases, start=2)]
    reading = select("a", "", entries, [], window=window, max_gpus=max_gpus, cap=cap, sample=sample)

    first = min(releases, default=0)
    begin, end = window or (0, 1000)
    inside = sum(begin <= release - first < end for release in releases)
    kept = inside - len(reading.dropped)
    assert len(reading.workload.jobs) == (kept if sample is None else min(kept, sample))
    assert all(job.gpus <= (max_gpus or 9) for job in reading.workload.jobs)
