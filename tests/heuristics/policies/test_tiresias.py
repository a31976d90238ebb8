"""Tiresias: its authors' simulator to the last second, exact thresholds, and starved jobs."""

import json
from datetime import datetime
from functools import partial
from math import ceil, inf, nan
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.simulation import simulate
from gsopt.simulation.placer import emptiest_first, first_fit
from heuristics.policies import tiresias
from instances.scenarios import pollux
from instances.traces import philly
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import workload
from tests.heuristics.policies.shared import traces


class Lists:
    """What the authors' simulator does in whole seconds, with its lists and its arithmetic.

    Each queue is a list. Arriving, falling and promoted jobs are appended; the lists are scanned from the
    front; then the running jobs of each are moved in front of its waiting ones.
    """

    def __init__(
        self, jobs: list[tuple[int, int, int]], gpus: int, thresholds: tuple[int, ...], promote: float
    ) -> None:
        self.jobs, self.gpus, self.thresholds, self.promote = jobs, gpus, thresholds, promote
        self.queues: list[list[int]] = [[] for _ in range(len(thresholds) + 1)]
        self.level = [0] * len(jobs)
        self.counted, self.ran, self.waited = [0] * len(jobs), [0] * len(jobs), [0] * len(jobs)
        self.running: set[int] = set()
        self.active: list[int] = []
        self.completion: list[int | None] = [None] * len(jobs)
        self.preemptions = 0

    def run(self) -> None:
        """Go from event to event; where something seems to change before the next one, stop there too."""
        now, arrived = 0, 0
        while arrived < len(self.jobs) or self.active:
            ends = {job: now + self.jobs[job][1] - self.ran[job] for job in self.running}
            events = [*ends.values(), *(release for release, _, _ in self.jobs[arrived:][:1])]
            then = min([*events, *self._looks(now)])
            self._pass(then - now)
            now = then
            for job in [job for job, end in ends.items() if end == now]:
                self.completion[job] = now
                self.running.remove(job)
                self.active.remove(job)
                self.queues[self.level[job]].remove(job)
            while arrived < len(self.jobs) and self.jobs[arrived][0] == now:
                self.active.append(arrived)
                self.queues[0].append(arrived)
                arrived += 1
            self._change_queues()
            self._choose()

    def _looks(self, now: int) -> list[int]:
        looks = []
        for job in self.active:
            level, count = self.level[job], self.jobs[job][2]
            if job in self.running and level < len(self.thresholds):
                looks.append(now + ceil((self.thresholds[level] - self.counted[job]) / count))  # as published
            elif job not in self.running and self._may_return(job):
                missing = int(self.counted[job] * self.promote - self.waited[job])
                looks += [now + missing] if missing > 0 else []
        return looks

    def _pass(self, seconds: int) -> None:
        for job in self.active:
            if job in self.running:
                self.ran[job] += seconds
                self.counted[job] += seconds
            elif self.counted[job]:
                self.waited[job] += seconds

    def _change_queues(self) -> None:
        for job in self.active:
            level = self.level[job]
            if job in self.running:
                service = self.counted[job] * self.jobs[job][2]
                if level < len(self.thresholds) and service >= self.thresholds[level]:
                    self._append(job, level + 1)
            elif self._may_return(job) and self.waited[job] >= int(self.counted[job] * self.promote):
                self.counted[job] = self.waited[job] = 0
                self._append(job, 0)

    def _may_return(self, job: int) -> bool:
        return self.promote > 0 and self.level[job] > 0 and self.counted[job] > 0

    def _append(self, job: int, level: int) -> None:
        self.queues[self.level[job]].remove(job)
        self.level[job] = level
        self.queues[level].append(job)

    def _choose(self) -> None:
        free, chosen = self.gpus, set()
        for queue in self.queues:
            for job in queue:
                if self.jobs[job][2] <= free:
                    free -= self.jobs[job][2]
                    chosen.add(job)
        self.preemptions += len(self.running - chosen)
        self.running = chosen
        for queue in self.queues:
            queue.sort(key=lambda job: job not in chosen)


@pytest.mark.parametrize("promote", [None, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(cases(40)))
def test_as_its_authors_simulate_it(seed: int, promote: float | None) -> None:
    """Every job completes in the second in which it does in the authors' simulator, and as many are stopped."""
    random = Random(seed)
    date, sizes = 0, []
    for _ in range(random.choice([5, 20, 60])):
        date += random.choice([0, 1, 60, 300, random.randint(0, 2000)])
        duration = random.choice([60, 500, 812, 813, 3250, random.randint(1, 20_000), random.randint(1, 3000)])
        sizes.append((date, duration, random.choice([1, 1, 1, 2, 3, 4, 8, 16])))
    gpus = random.choice([16, 20, 32])
    lists = Lists(sizes, gpus, (3250, 7200), promote or 0)
    lists.run()
    run = simulate(workload(*sizes), tiresias, cluster=gpus, promote=promote)
    assert run.completion_times == tuple(lists.completion)
    assert run.metrics.preemptions == lists.preemptions


def test_figures_on_philly() -> None:
    """On the first 1,000 of every 16th Philly job from October on, the mean is that of the authors' program."""
    folder = traces()
    dates = (datetime(2017, 10, 1), datetime(2018, 1, 1))  # noqa: DTZ001 - the trace has no time zone
    jobs = philly(folder, dates=dates).workload.jobs[::16][:1000]
    begin = jobs[0].release_date
    shifted = (job.model_copy(update={"release_date": job.release_date - begin}) for job in jobs)
    run = simulate(bundle(shifted), tiresias, cluster=32)
    assert run.metrics.mean_jct == pytest.approx(10_802.052, abs=0.1)
    assert run.metrics.preemptions == 178


def as_in_pollux() -> dict[str, Any]:
    """Return the options in the study of all policies, from which the documentation takes its figures."""
    study = json.loads((Path(__file__).parents[3] / "docs/studies/all.json").read_text())
    method = next(each for each in study["methods"] if each["label"] == "Tiresias, as in Pollux")
    options = {name: value for name, value in method.items() if name not in {"label", "policy"}}
    return options | {"thresholds": options["thresholds"][0]}


def test_the_study_runs_it_as_in_pollux() -> None:
    """With the options of the study, the mean on workload 5 is that of the authors' run."""
    run = simulate(pollux(traces(), number=5), tiresias, round_length=60, bound=False, **as_in_pollux())
    assert run.metrics.mean_jct == pytest.approx(3501.0125)


def test_a_placement_is_that_of_a_placer() -> None:
    """On the emptiest nodes jobs are where the placer of the run would put them."""
    scenario = pollux(traces(), number=5, jobs=40)
    run = partial(simulate, scenario, tiresias, round_length=60, bound=False)
    placed = run(placement="emptiest").completion_times
    assert placed == run(placer=emptiest_first).completion_times != run().completion_times
    assert run(placement="first").completion_times == run(placer=first_fit).completion_times
    assert run(placement="best").completion_times == run().completion_times


@pytest.mark.parametrize(("workload", "least"), [(2, 160), (1, 130), (3, 160), (4, 160)][: cases(4)])
def test_jobs_of_pollux(workload: int, least: int) -> None:
    """Jobs complete in the second in which they do in the authors' runs of Tiresias for Pollux.

    It has one threshold, and looks at whole rounds. On workload 1 a job has 2 + 4 + 2 + 4 GPUs in the order of
    its nodes, where the simulator keeps the order in which they were chosen, 2 + 2 + 4 + 4, which was measured
    to be slower; some jobs after it complete in other rounds.
    """
    folder = traces()
    text = (folder / "pollux_osdi21" / "results-load-1.0.json").read_text()
    published = json.loads(text)["tiresias-1.0"]["jcts"][f"workload-{workload}"]
    scenario = pollux(folder, number=workload)
    run = simulate(scenario, tiresias, round_length=60, bound=False, **as_in_pollux())
    ends = zip(scenario.workload.jobs, run.completion_times, strict=True)
    assert sum(end == job.release_date + published[job.name] for job, end in ends) >= least
    assert run.metrics.mean_jct == pytest.approx(fmean(published.values()), rel=1e-3)


@pytest.mark.parametrize(
    ("thresholds", "expected"),
    [
        ((), (10, 15)),  # one queue: first in, first out
        ((4,), (13, 7)),  # two GPUs reach 4 GPU-seconds at 2 s; the other runs until it has 4 at 4 s
        ((100,), (10, 15)),
    ],
)
def test_jobs_fall_at_the_exact_time(thresholds: tuple[float, ...], expected: tuple[float, ...]) -> None:
    """The first job falls to the second queue when its GPUs times seconds reach the threshold."""
    jobs = workload((0, 10, 2), (1, 5, 2))
    if thresholds == (4,):
        expected = (2 + 2 + 8, 15)  # both are then in the second queue, where the first released goes first
    assert simulate(jobs, tiresias, cluster=2, thresholds=thresholds).completion_times == expected


def test_three_queues() -> None:
    """A new job overtakes a job of the second queue, and that one a job of the third."""
    jobs = workload((0, 6, 1), (3, 3, 1), (6, 1, 1))
    run = simulate(jobs, tiresias, cluster=1, thresholds=[1, 3], exact=True)
    # 0-3 first job, then of the third queue; 3-6 second job completes as it would fall; 6-7 third; 7-10 first
    assert run.completion_times == (10, 6, 7)


@pytest.mark.parametrize(("on_time", "second"), [(False, 4), (True, 3)])
def test_exact_thresholds(on_time: bool, second: int) -> None:
    """When another job arrives, 1 s on 2 GPUs is taken for 1 of 4 GPU-seconds, so the look is 1 s late."""
    run = simulate(workload((0, 10, 2), (1, 1, 2)), tiresias, cluster=2, thresholds=[4], on_time=on_time)
    assert run.completion_times == (11, second)


@pytest.mark.parametrize(("by_release", "expected"), [(False, (4, 14, 10)), (True, (4, 8, 14))])
def test_an_older_job_that_waits(by_release: bool, expected: tuple[float, ...]) -> None:
    """An older job that was too large waits for the younger one that runs; by release date it stops that."""
    jobs = workload((0, 4, 1), (1, 4, 2), (2, 8, 1))
    assert simulate(jobs, tiresias, cluster=2, by_release=by_release).completion_times == expected


def test_starved_jobs_are_promoted() -> None:
    """A job that has waited as long as it had run returns to the end of the first queue."""
    jobs = workload((0, 4, 1), (2, 1, 1), (2, 1, 1), (2, 1, 1), (2, 1, 1))
    without = simulate(jobs, tiresias, cluster=1, thresholds=[2], exact=True)
    promoted = simulate(jobs, tiresias, cluster=1, thresholds=[2], promote=1.0, exact=True)
    assert without.completion_times == (8, 3, 4, 5, 6)
    assert promoted.completion_times == (8, 3, 4, 5, 6)  # behind all that wait there


@pytest.mark.parametrize(
    ("option", "values"),
    [("thresholds", [[2, 1], [1, 1], [0, 1], [1, nan], [1, inf], "12"]), ("promote", [0, -1.0, nan, inf])],
)
def test_bad_options(option: str, values: list[Any]) -> None:
    """Options that are not positive and finite, and thresholds that do not rise, are refused."""
    for value in values:
        with pytest.raises(InvalidInput, match=f"^{option}: "):
            simulate(workload((0, 1, 1)), tiresias, cluster=1, **{option: value})
