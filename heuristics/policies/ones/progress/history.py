"""History: a random sample, of limited size, of the rows of completed jobs."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from gsopt.core.errors import InvalidInput, shorten
from heuristics.policies.ones.progress.observation import FEATURES, Floats, ObservationRows


class Sampling(StrEnum):
    """How the rows of completed jobs are sampled: equally many per job, or each with equal probability.

    Attributes
    ----------
    JOBS
        Every job keeps the same number of rows, or all of its rows if it has fewer, so that long jobs do not
        crowd out short ones. If there are more jobs than rows that may be kept, some jobs keep none.
    ROWS
        Every row is kept with the same probability, as in the text of ONES.

    Examples
    --------
    >>> Sampling("jobs")
    <Sampling.JOBS: 'jobs'>
    """

    JOBS = "jobs"
    ROWS = "rows"


class _Kept(NamedTuple):
    """The kept rows of a job in the order of their keys, and its original number of rows."""

    key: float
    length: int
    row_keys: Floats
    features: Floats
    progress: Floats

    def first(self, number: int) -> "_Kept":
        cut = slice(number)
        return self._replace(
            row_keys=self.row_keys[cut], features=self.features[cut], progress=self.progress[cut]
        )


class ObservationHistory:
    """A random sample of at most `limit` rows (observations) of completed jobs.

    The kept rows are a uniform sample without replacement, either of all rows or, if rows are sampled by job,
    of the rows of each job. In the latter case, if there are more jobs than `limit`, a uniform sample of the
    jobs is kept, with one row each.

    Parameters
    ----------
    limit
        Largest number of rows kept.
    sampling
        How rows are sampled.
    seed
        Seed of the random numbers.

    Raises
    ------
    InvalidInput
        The limit is below 1.

    Examples
    --------
    >>> history = ObservationHistory(limit=6)
    >>> for length in (2, 40, 40):
    ...     history.add(ObservationRows(features=np.ones((length, 5)), progress=np.full(length, 0.5)))
    >>> history.jobs, history.counts()
    (3, [2, 2, 2])
    """

    def __init__(self, *, limit: int = 500, sampling: Sampling = Sampling.JOBS, seed: int = 0) -> None:
        if limit < 1:
            raise InvalidInput("limit", shorten(limit), "must be at least 1")
        self.jobs = 0
        self._limit, self._sampling, self._share = limit, sampling, limit
        self._generator = np.random.default_rng(seed)
        self._kept: list[_Kept] = []

    def add(self, rows: ObservationRows) -> None:
        """Add the rows of a completed job."""
        self.jobs += 1
        job_key, keys = self._generator.random(), self._generator.random(len(rows))
        order = np.argsort(keys, kind="stable")
        job = _Kept(job_key, len(rows), keys[order], rows.features[order], rows.progress[order])
        if job.length:
            self._kept.append(job)
        numbers = self._by_row() if self._sampling is Sampling.ROWS else self._by_job()
        kept = zip(self._kept, numbers, strict=True)
        self._kept = [each.first(number) for each, number in kept if number]

    def rows(self) -> ObservationRows:
        """Return the kept rows, job by job."""
        return ObservationRows(
            features=np.concatenate([np.empty((0, len(FEATURES))), *(each.features for each in self._kept)]),
            progress=np.concatenate([np.empty(0), *(each.progress for each in self._kept)]),
        )

    def counts(self) -> list[int]:
        """Return the number of kept rows of each job, omitting jobs without any."""
        return [len(each.progress) for each in self._kept]

    def _by_row(self) -> list[int]:
        keys = np.sort(np.concatenate([np.empty(0), *(each.row_keys for each in self._kept)]))
        last = keys[self._limit - 1] if len(keys) > self._limit else np.inf
        return [int(np.searchsorted(each.row_keys, last, side="right")) for each in self._kept]

    def _by_job(self) -> list[int]:
        last = np.inf
        if len(self._kept) > self._limit:
            last = sorted(each.key for each in self._kept)[self._limit - 1]
        # the original numbers: by the kept ones late jobs would get more than early ones
        lengths = [each.length if each.key <= last else 0 for each in self._kept]
        # the share never grows with more jobs
        share = min(self._share, max(lengths, default=0))
        while share > 1 and sum(min(length, share) for length in lengths) > self._limit:
            share -= 1
        if share < max(lengths, default=0):
            self._share = share
        return [min(length, share) for length in lengths]
