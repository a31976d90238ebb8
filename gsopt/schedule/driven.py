"""Driven: the progress of an adaptive job on trial, made by a trainee of the judge's own."""

from collections.abc import Sequence
from typing import Any

from gsopt.applications.trainee import Trainee
from gsopt.errors import InvalidInput
from gsopt.job import Job
from gsopt.scenario import Scenario


class Driven:
    """An adaptive job that a schedule drives; where it cannot run it stops for good, and says so.

    Parameters
    ----------
    job
        The job, whose model has an application.
    scenario
        What was given.

    Attributes
    ----------
    broken
        Why it cannot run; empty as long as it can.
    """

    def __init__(self, job: Job, scenario: Scenario) -> None:
        application = scenario.applications[job.model]
        self._job = job
        self._trainee = Trainee(application, scenario.agents, job.batch_size, job.release_date)
        self._slowdown: Any = 1.0
        self.broken = ""

    @property
    def share(self) -> float:
        """Share of its work that is done."""
        return self._trainee.share

    @property
    def completed_at(self) -> float | None:
        """When it completed; None before."""
        return None if self.broken else self._trainee.completed_at

    def run(self, shape: Sequence[int], mode: str, time: Any, works_from: Any, slowdown: Any) -> None:
        """Run on so many GPUs of each machine from now on."""
        if self._trainee.completed_at is not None:
            self.broken = f"it is complete at {self._trainee.completed_at}"
        batch, self._slowdown = self._job.batch_in(mode), slowdown
        self._tell(self._trainee.place, tuple(shape), time, works_from, slowdown, batch)

    def slow(self, slowdown: Any, time: Any) -> None:
        """Go on beside other jobs, which makes no difference where they are as slow as those before."""
        if slowdown != self._slowdown:
            self._slowdown = slowdown
            self._tell(self._trainee.slow, slowdown, time)

    def follow(self, time: Any) -> None:
        """Go on until a time."""
        self._tell(self._trainee.advance, time)

    def lose(self, share: Any, time: Any) -> None:
        """Lose a share of its work."""
        self._tell(self._trainee.lose, share, time)

    def stop(self, time: Any, excused: Any) -> None:
        """Stop, complete if that is at most the excused seconds away."""
        self.follow(time)
        change = self._trainee.next_change()
        if change - time <= excused:
            time = change
            self.follow(time)
        self._tell(self._trainee.place, (), time, time)

    def _tell(self, what: Any, *given: Any) -> None:
        """Tell the trainee, unless it cannot run any more."""
        if not self.broken:
            try:
                what(*given)
            except InvalidInput as error:
                self.broken = str(error)
