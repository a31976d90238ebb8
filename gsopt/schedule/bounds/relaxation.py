"""Relaxation: a simpler scenario, without network tiers or adaptive jobs, in which no job is slower."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf

from gsopt.core.errors import number_of, require
from gsopt.core.numbers.grid import Exact
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.adaptive import on_weighted_epochs
from gsopt.schedule.bounds.epochs import EpochTimes, epoch_times
from gsopt.schedule.bounds.starts import on_first_progress
from gsopt.schedule.bounds.tiers import on_best_tiers
from gsopt.schedule.bounds.work import height


@dataclass(frozen=True)
class Relaxation:
    """The simplified scenario for which bounds are computed.

    Attributes
    ----------
    scenario
        The simplified scenario: jobs are released when they can first make progress, and run on their best
        network tiers. Adaptive jobs have weighted work instead of epochs.
    numbers
        For each job of the simplified scenario, its index in the given workload.
    delays
        Seconds from each job's release to its first possible progress, one per job.
    times
        Epoch times of the adaptive jobs, keyed by job name.
    """

    scenario: Scenario
    numbers: Sequence[int]
    delays: Sequence[Exact]
    times: Mapping[str, EpochTimes] = field(default_factory=dict)

    @classmethod
    def of(cls, scenario: Scenario, round_length: float | None = None) -> "Relaxation":
        """Relax a scenario, either for all schedules or only for those that decide in the given rounds."""
        holds = round_length is None or 0 < number_of(round_length) < inf
        require(holds, "round_length", round_length, "must be a finite number of seconds above 0, or None")
        times = epoch_times(scenario, round_length)
        advances = {name: own.advance for name, own in times.items()}
        later, delays = on_first_progress(scenario, round_length=round_length, advances=advances)
        numbers = {job.name: number for number, job in enumerate(scenario.workload.jobs)}
        names = [job.name for job in later.workload.jobs]
        return cls(
            scenario=on_weighted_epochs(on_best_tiers(later), times),
            numbers=[numbers[name] for name in names],
            delays=[delays[name] for name in names],
            times=times,
        )

    def part(self, jobs: Sequence[Job]) -> "Relaxation":
        """Return the relaxation restricted to some consecutive jobs."""
        names = [job.name for job in self.scenario.workload.jobs]
        first = names.index(jobs[0].name)
        chosen = slice(first, first + len(jobs))
        workload = self.scenario.workload.model_copy(update={"jobs": tuple(jobs)})
        scenario = self.scenario.model_copy(update={"workload": workload})
        return replace(self, scenario=scenario, numbers=self.numbers[chosen], delays=self.delays[chosen])

    def heights(self) -> Fraction:
        """Add up the jobs' minimum run times in seconds; adaptive jobs run every epoch on its fastest GPUs."""
        jobs = self.scenario.workload.jobs
        own = (self.times[job.name].height if job.name in self.times else height(job) for job in jobs)
        return sum((Fraction(each) for each in own), Fraction(0))

    def delayed(self, weights: Sequence[float] | None = None) -> Fraction:
        """Add up the delays, weighted by job if weights are given."""
        if weights is None:
            return Fraction(sum(self.delays))
        return sum((Fraction(w) * delay for w, delay in zip(weights, self.delays, strict=True)), Fraction(0))
