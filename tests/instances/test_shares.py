"""The generator of shares, measured throughputs, and the suites."""

from pathlib import Path
from typing import get_args

from formulations.shares import exact
from gsopt.core.result import Status
from gsopt.problems.shares import Criterion
from instances.interference.gavel import FILE
from instances.shares import typed_jobs
from instances.shares.real import from_data, measured
from instances.shares.suites import committed, production, small, worst
from tests.instances.traces.samples import THROUGHPUTS


def test_newer_types_are_faster() -> None:
    """Throughputs fall from type to type, by no more than the largest speed-up in all."""
    for job in typed_jobs(jobs=50, types=4, speedup=5.0, seed=1).jobs:
        rates = list(job.throughputs.values())
        assert list(job.throughputs) == ["v100", "p100", "k80", "m60"]
        assert rates == sorted(rates, reverse=True)
        assert rates[0] <= 5.01 * rates[-1]
        assert job.isolated <= job.age <= 2 * job.isolated + 1


def test_jobs_of_a_model_are_as_fast() -> None:
    """With so many models there are no more speeds, and jobs have at most so many GPUs."""
    jobs = typed_jobs(jobs=100, gpus=2, largest=2, models=5, seed=1).jobs
    assert len({tuple(job.throughputs.items()) for job in jobs}) == 5
    assert {job.gpus for job in jobs} == {1, 2}


def test_jobs_have_the_gpus_of_their_configurations(tmp_path: Path) -> None:
    """Each criterion is an instance of 160 jobs, of one or four GPUs."""
    path = tmp_path / FILE
    path.parent.mkdir()
    path.write_text(THROUGHPUTS)
    problems = list(from_data(tmp_path))
    assert len(problems) == len({problem.criterion for problem in problems}) == len(get_args(Criterion))
    assert {job.gpus for job in problems[0].jobs} == {1, 4}


def test_measured_instances_are_proven(traces: Path) -> None:
    """With the data at hand, 160 jobs on 64 GPUs are proven, whatever counts."""
    for problem in from_data(traces):
        assert sum(problem.gpus.values()) == 64
        assert exact(problem).status is Status.OPTIMAL, problem.name


def test_a_seed_is_an_instance() -> None:
    """The same seed gives the same jobs, another one others."""
    rates = {"('LM (batch size 5)', 2)": {"v100": 7.5, "k80": 1.0}}
    assert measured(rates, criterion="fifo", seed=1) == measured(rates, criterion="fifo", seed=1)
    assert measured(rates, criterion="fifo", seed=1).jobs != measured(rates, criterion="fifo", seed=2).jobs


def test_every_suite_has_every_criterion() -> None:
    """Small instances have each criterion on one to three types, larger ones on 63 GPUs."""
    criteria = set(get_args(Criterion))
    assert {(problem.criterion, len(problem.gpus)) for problem in small()} >= {
        (c, t) for c in criteria for t in (1, 2, 3)
    }
    assert {problem.criterion for problem in production()} == criteria
    assert {sum(problem.gpus.values()) for problem in production()} == {63}
    assert len(committed()) == len(small()) + len(production()) + len(worst())
