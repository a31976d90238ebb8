"""The rows that are kept: how many, whose, and how evenly they are drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from heuristics.policies.ones.progress import ObservationHistory, ObservationRows, Sampling
from tests.effort import cases


def _numbered(job: int, length: int) -> ObservationRows:
    """Return rows that can be told apart: by job in the second feature, by place in the third."""
    places = np.arange(length, dtype=float)
    same = np.ones(length)
    return ObservationRows(
        features=np.column_stack([same, job * same, places, same, same]),
        progress=(places + 1) / (length + 1),
    )


def _filled(lengths: list[int], *, limit: int, sampling: Sampling, seed: int = 0) -> ObservationHistory:
    history = ObservationHistory(limit=limit, sampling=sampling, seed=seed)
    for job, length in enumerate(lengths):
        history.add(_numbered(job, length))
    return history


@given(
    lengths=st.lists(st.integers(0, 30), max_size=12),
    limit=st.integers(1, 40),
    sampling=st.sampled_from(Sampling),
)
def test_as_many_as_the_limit_and_each_once(lengths: list[int], limit: int, sampling: Sampling) -> None:
    """Rows are those of the logs, none twice, and no more than the limit; all of them where they fit in."""
    history = _filled(lengths, limit=limit, sampling=sampling)
    rows = history.rows()
    kept = {(job, place): done for (_, job, place, *_), done in zip(rows.features, rows.progress, strict=True)}

    assert len(kept) == len(rows) <= limit
    assert all(done == (place + 1) / (lengths[int(job)] + 1) for (job, place), done in kept.items())
    assert history.jobs == len(lengths)
    if sum(lengths) <= limit:
        assert len(rows) == sum(lengths)
    elif sampling is Sampling.ROWS:
        assert len(rows) == limit


@given(lengths=st.lists(st.integers(1, 30), min_size=1, max_size=12), limit=st.integers(12, 40))
def test_jobs_have_equal_shares(lengths: list[int], limit: int) -> None:
    """By jobs, each keeps the largest number of rows that all can, or all of its rows."""
    counts = _filled(lengths, limit=limit, sampling=Sampling.JOBS).counts()
    share = max(share for share in range(1, 31) if sum(min(length, share) for length in lengths) <= limit)
    assert counts == [min(length, share) for length in lengths]


def test_more_jobs_than_rows() -> None:
    """With fewer rows than jobs, as many jobs as the limit have one row each."""
    history = _filled([5] * 30, limit=8, sampling=Sampling.JOBS)
    assert history.counts() == [1] * 8


@pytest.mark.parametrize("sampling", Sampling)
def test_every_row_is_kept_as_often(sampling: Sampling) -> None:
    """Over many seeds each row of equal logs is kept with the same probability, whenever its job completed."""
    kept = np.zeros((4, 6))
    trials = cases(1500)
    for seed in range(trials):
        rows = _filled([6] * 4, limit=3, sampling=sampling, seed=seed).rows()
        for _, job, place, *_ in rows.features:
            kept[int(job), int(place)] += 1
    share = 3 / 24

    assert kept.sum() == 3 * trials
    assert np.abs(kept / trials - share).max() < 5 * np.sqrt(share * (1 - share) / trials)


def test_by_rows_long_jobs_have_more() -> None:
    """As the paper's words have it, a log of nine times the length keeps about nine times the rows."""
    firsts = [
        sum(_filled([10, 90], limit=20, sampling=Sampling.ROWS, seed=seed).rows().features[:, 1] == 0)
        for seed in range(40)
    ]
    short, long = sum(firsts), 40 * 20 - sum(firsts)
    assert 6 < long / short < 13


def test_jobs_without_rows_take_no_place() -> None:
    """A job that completed in its first epoch counts as complete, and says nothing."""
    history = _filled([0, 3, 0], limit=2, sampling=Sampling.JOBS)
    assert (history.jobs, history.counts()) == (3, [2])


@pytest.mark.parametrize("sampling", Sampling)
def test_the_same_seed_keeps_the_same(sampling: Sampling) -> None:
    """What is kept depends on the seed and the logs only, and on the seed it does."""
    one, same, other = (_filled([30] * 9, limit=20, sampling=sampling, seed=seed).rows() for seed in (1, 1, 2))
    assert one.features.tolist() == same.features.tolist()
    assert one.features.tolist() != other.features.tolist()


def test_a_limit_below_1_is_refused() -> None:
    """At least one row is kept."""
    with pytest.raises(InvalidInput, match="limit: 0: must be at least 1"):
        ObservationHistory(limit=0)
