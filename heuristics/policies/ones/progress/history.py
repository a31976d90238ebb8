"""History: a limited number of rows of completed jobs, a uniform sample of all that there were."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from gsopt.core.errors import InvalidInput, shorten
from heuristics.policies.ones.progress.observation import FEATURES, Floats, ObservationRows


class Sampling(StrEnum):
    """Of what the sample is uniform.

    Attributes
    ----------
    JOBS
        Every completed job keeps as many rows as every other one, or all of its rows where it has fewer. Rows
        of one job say much the same, and by rows alone long jobs would crowd out short ones.
    ROWS
        Every row of every log is kept with the same probability, as the paper's words have it.

    Examples
    --------
    >>> Sampling("jobs")
    <Sampling.JOBS: 'jobs'>
    """

    JOBS = "jobs"
    ROWS = "rows"


class _Kept(NamedTuple):
    """What is kept of a job: rows in the order of their keys, and how many there were."""

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
    """Rows of completed jobs, at most `limit` of them.

    Each row gets a random key once, and each job one too; the smallest keys stay. That is a uniform sample
    without replacement, which needs no row again that it has dropped: what a job may keep never grows. Where
    there are more jobs than rows may be kept, the jobs are a uniform sample as well, with a row each.

    Parameters
    ----------
    limit
        Most rows kept.
    sampling
        Of what the sample is uniform.
    seed
        Of the keys.

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
            raise InvalidInput("", "limit", shorten(limit), "must be at least 1")
        self.jobs = 0
        self._limit, self._sampling, self._share = limit, sampling, limit
        self._generator = np.random.default_rng(seed)
        self._kept: list[_Kept] = []

    def add(self, rows: ObservationRows) -> None:
        """Take in the rows of a job that is complete."""
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
        """Return the rows that are kept, job by job."""
        return ObservationRows(
            features=np.concatenate([np.empty((0, len(FEATURES))), *(each.features for each in self._kept)]),
            progress=np.concatenate([np.empty(0), *(each.progress for each in self._kept)]),
        )

    def counts(self) -> list[int]:
        """Return the number of rows that each job has left, of those that have some."""
        return [len(each.progress) for each in self._kept]

    def _by_row(self) -> list[int]:
        keys = np.sort(np.concatenate([np.empty(0), *(each.row_keys for each in self._kept)]))
        last = keys[self._limit - 1] if len(keys) > self._limit else np.inf
        return [int(np.searchsorted(each.row_keys, last, side="right")) for each in self._kept]

    def _by_job(self) -> list[int]:
        last = np.inf
        if len(self._kept) > self._limit:
            last = sorted(each.key for each in self._kept)[self._limit - 1]
        # by how many rows there were: by those that are left, late jobs would get more than early ones
        lengths = [each.length if each.key <= last else 0 for each in self._kept]
        # more jobs never leave a larger share
        share = min(self._share, max(lengths, default=0))
        while share > 1 and sum(min(length, share) for length in lengths) > self._limit:
            share -= 1
        if share < max(lengths, default=0):
            self._share = share
        return [min(length, share) for length in lengths]
