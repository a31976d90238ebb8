"""Worst cases: known theorems are found again, and nothing beyond them."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import gsopt
from gsopt import simulation
from gsopt.cli.exits import Exit
from gsopt.core.budget import Budget
from gsopt.core.errors import Contradiction, InvalidInput
from gsopt.core.method import NoSolution
from gsopt.core.result import Result
from gsopt.evaluation import catalogue
from gsopt.evaluation.hard_instances import HardInstances
from gsopt.evaluation.ratio import Optima, Worst, ratio, worst_of
from gsopt.evaluation.space import Pick, Space
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.problems.waiting import Run, Waiting, WaitingSolution
from gsopt.studies.results import Results
from gsopt.studies.runner import StudyProgress, run
from gsopt.studies.spec import Study
from gsopt.studies.worst import worst
from instances.scheduling.spaces import rigid
from tests.commands import gsopt as gsopt_command
from tests.unwrap import unwrap

TINY: dict[str, Any] = {"jobs": 2, "gpus": 1, "releases": 0}


def longest_first(problem: Waiting) -> WaitingSolution:
    """Start the longest waiting job whenever a GPU is free (LPT)."""
    free = [Fraction(0)] * problem.cluster.gpus
    runs = []
    for job in sorted(problem.jobs, key=lambda job: -job.duration):
        gpu = min(range(len(free)), key=free.__getitem__)
        runs.append(Run(job=job.name, start=free[gpu], gpus=[gpu]))
        free[gpu] += Fraction(job.duration)
    return WaitingSolution(runs=runs)


@pytest.mark.parametrize(
    ("method", "space", "wanted"),
    [
        ("fifo", {"jobs": 3, "gpus": 2, "durations": 2}, Fraction(3, 2)),
        ("fifo", {"jobs": 5, "gpus": 2, "durations": 2}, Fraction(3, 2)),
        (longest_first, {"jobs": 5, "gpus": 2, "durations": 3}, Fraction(7, 6)),
        ("fifo", {"jobs": 4, "gpus": 3, "durations": 3}, Fraction(3, 2)),
    ],
)
def test_makespans_are_as_bad_as_theorems_say(method: Any, space: dict[str, Any], wanted: Fraction) -> None:
    """List scheduling reaches 2 - 1/m and longest first 4/3 - 1/(3m) on two GPUs, and nothing exceeds them."""
    found = worst(catalogue.find_method("waiting", method), "waiting/one_machine", **space)
    assert found.found.ratio == wanted
    assert found.proven


def exact(space: Space) -> Optima:
    """Return a space with its optima."""
    return Optima(space, catalogue.find_method(space.word, space.method))


@pytest.mark.parametrize(
    ("method", "space"),
    [
        ("srtf", {"jobs": 3, "gpus": 1, "releases": 2}),
        ("sjf", {"jobs": 4, "gpus": 2, "releases": 0, "widths": 1}),
        ("srtf", {"jobs": 3, "gpus": 3, "releases": 0, "widths": 1}),
    ],
)
def test_rules_are_optimal_where_theorems_say_so(method: str, space: dict[str, Any]) -> None:
    """SRPT is optimal on one GPU, and shortest first for jobs on one GPU each that are released together."""
    found = worst(catalogue.find_policy(method), "scheduling/rigid", **space)
    assert found.found.ratio == 1
    assert found.proven


def test_orders_of_equal_jobs_are_tried() -> None:
    """FIFO runs the longer of two jobs first in one order of the instance, and in no worse one."""
    found = worst("fifo", "scheduling/rigid", **TINY, durations=3)
    assert found.found.ratio == Fraction(7, 5)
    problem: Any = found.problem
    assert [job.work for job in problem.jobs] == [3, 1]
    assert found.confirmed
    assert "no instance is worse" in str(found)


def test_a_search_continues_where_it_was_ended(tmp_path: Path) -> None:
    """A second call with the same folder computes nothing anew and finds the same."""
    first = worst("fifo", "scheduling/rigid", folder=tmp_path, **TINY)
    seen: list[int] = []
    again = worst(
        "fifo", "scheduling/rigid", folder=tmp_path, on_progress=lambda now: seen.append(now.finished), **TINY
    )
    assert again.found == first.found
    assert seen == [seen[-1]]


def test_ctrl_c_keeps_the_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C, the instances tried so far count, also on the command line; without any, it is raised."""
    monkeypatch.setattr("gsopt.studies.instance._PART", 3)

    def stop(now: StudyProgress, after: int = 1) -> None:
        if now.finished == after:
            raise KeyboardInterrupt

    found = worst("fifo", "scheduling/rigid", on_progress=stop, **TINY)
    assert (found.interrupted, found.proven) == (True, False)
    assert found.found.instances
    with pytest.raises(KeyboardInterrupt):
        worst("fifo", "scheduling/rigid", on_progress=partial(stop, after=0), **TINY)

    def run_stopped(study: Study, folder: str, **options: Any) -> Results:
        return run(study, folder, **{**options, "on_progress": stop})

    monkeypatch.setattr("gsopt.studies.worst.run", run_stopped)
    options = [text for name, value in TINY.items() for text in (f"--{name}", str(value))]
    command = gsopt_command("worst", "fifo", "scheduling/rigid", "--workers", "1", *options)
    assert command.returncode == Exit.INTERRUPTED
    assert "worst ratio" in command.stdout
    assert command.stderr == "gsopt: interrupted; the instances above are those that were tried\n"


def test_the_genetic_search_finds_the_worst_of_a_small_space() -> None:
    """A genetic search of some generations finds the same ratio as the enumeration, on as few jobs."""
    space = rigid(jobs=3, gpus=2, durations=3, releases=0)
    optima, method = exact(space), catalogue.find_method("scheduling", "fifo")
    wanted = worst_of(space.picks(), method, optima)
    found = HardInstances(method, optima, seed=1).run(Budget(), generations=12)
    assert found.ratio == wanted.ratio
    assert len(unwrap(found.pick).items) == len(unwrap(wanted.pick).items)


def test_a_search_that_runs_out_of_time_is_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search leaves time for replacing jobs by simpler ones, unless that reduces the ratio."""
    ticks = count(step=0.25)
    monkeypatch.setattr("gsopt.core.budget.perf_counter", lambda: next(ticks))
    space = rigid(jobs=4, gpus=2, durations=3, releases=0)
    optima, method = exact(space), catalogue.find_method("scheduling", "fifo")
    found = HardInstances(method, optima, seed=1).run(Budget(time_limit=100, begin=0.0))
    setting, items = unwrap(found.pick)
    simpler = [
        Pick(setting, (*items[:place], kind, *items[place + 1 :]))
        for place, item in enumerate(items)
        for kind in range(item)
    ]
    ratios = [worst_of([pick], method, optima).ratio or Fraction(0) for pick in simpler]
    assert ratios
    assert max(ratios) < unwrap(found.ratio)


def fails_on_two(problem: Scheduling) -> SchedulingSolution | NoSolution:
    """Solve problems with one job, and fail on others."""
    if len(problem.jobs) > 1:
        raise ValueError("too many jobs")
    solution: SchedulingSolution | None = gsopt.solve(problem).solution
    return NoSolution("none") if solution is None else solution


def test_failures_are_findings() -> None:
    """A method that fails on some instances has a count and a first one of these, and proves nothing."""
    found = worst(fails_on_two, "scheduling/rigid", **TINY)
    assert found.found.unsolved == found.found.instances - 1
    assert found.found.reason == "ValueError: too many jobs"
    assert not found.proven
    problem: Any = found.unsolved
    assert len(problem.jobs) == 2


@pytest.mark.parametrize("message", ["", "none"])
def test_the_reason_is_that_of_the_first_failure(message: str) -> None:
    """The message about the first instance without a solution stays, also if it is empty."""

    def fails(problem: Scheduling) -> NoSolution:
        return NoSolution("too many jobs" if len(problem.jobs) > 1 else message)

    found = worst(fails, "scheduling/rigid", **TINY)
    assert found.found.unsolved > 1
    problem: Any = found.unsolved
    assert len(problem.jobs) == 1
    assert found.found.reason == message
    [line] = [line for line in str(found).splitlines() if line.startswith("no solution")]
    assert line.endswith(f"of them: {message}" if message else "of them")


class Impossible(simulation.Decider):
    """A policy that breaks the rules."""

    preemptive = False

    def __init__(self, state: simulation.State) -> None:
        pass

    def decide(self, state: simulation.State) -> Iterator[simulation.Action]:
        """Start a job that does not exist."""
        del state
        yield simulation.Start(99)


def test_policies_that_break_rules_are_findings() -> None:
    """A policy that makes an illegal decision has no solution, and the reason is kept."""
    found = worst(Impossible, "scheduling/rigid", **TINY)
    assert found.found.ratio is None
    assert found.found.unsolved == found.found.instances


def test_impossible_values_end_the_search() -> None:
    """A value better than a proven optimum raises `Contradiction`."""

    def lying(problem: Scheduling) -> Result[Any]:
        found = gsopt.solve(problem)
        return replace(found, objective=2 * unwrap(found.objective), bound=2 * unwrap(found.objective))

    space = rigid(**TINY)
    with pytest.raises(Contradiction):
        worst_of(space.picks(), catalogue.find_method("scheduling", "srtf"), Optima(space, lying))


def test_ratios_without_a_bound() -> None:
    """A value above an optimum of 0 has no ratio, and two zeros have the ratio 1."""
    problem = gsopt.load("reclaiming/aryl-figure-5")
    assert ratio(problem, 1, 0) is None
    assert ratio(problem, 0, 0) == 1


def test_findings_add_up() -> None:
    """Findings of parts add up to those of the whole, whatever the division."""
    space = rigid(jobs=3, gpus=2)
    optima, method = exact(space), catalogue.find_method("scheduling", "efq")
    picks = [*space.picks()][:200:2]
    whole = worst_of(picks, method, optima)
    parts = [worst_of(picks[start : start + 30], method, optima) for start in range(0, 100, 30)]
    assert sum(parts, Worst()) == whole


@pytest.mark.parametrize(
    ("space", "arguments", "message"),
    [
        ("scheduling/elastic-not", {}, "space: 'scheduling/elastic-not': must be one of"),
        ("scheduling/rigid", {"gpu": 2}, "gpu: 2: is not an option of rigid"),
        ("scheduling/rigid", {"jobs": 0}, "jobs: 0: must be at least 1"),
    ],
)
def test_wrong_spaces_are_refused(space: str, arguments: dict[str, Any], message: str) -> None:
    """An unknown space, option or value is refused in one line."""
    with pytest.raises(InvalidInput, match=message):
        worst("fifo", space, **arguments)
