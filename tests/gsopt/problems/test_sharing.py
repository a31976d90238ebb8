"""The judge of sharing, against values worked out by hand and an evaluation of its own; rigid jobs."""

import re
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.files import to_json, write
from gsopt.core.numbers.clock import clock_error
from gsopt.core.problem import RuleBroken
from gsopt.problems import Sharing
from gsopt.problems.reader import read_problem, read_solution
from gsopt.problems.rigid import require_rigid
from gsopt.problems.sharing import SharingSolution
from gsopt.problems.waiting import Run
from gsopt.scenario.job import Job, Mode, Phase
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.judge import judge
from gsopt.testing import brute_force
from instances.sharing.suites import between_events
from tests.exactness import sharing as oracle
from tests.gsopt.problems.checks import check_mutants, refusal


def two_jobs(**fields: Any) -> Sharing:
    """Return jobs of 4 s and 3 s on 2 GPUs each of 3; the second arrives after 1 s; slow by 1.5 and 2."""
    jobs = [
        Job(name="a", release_date=0, duration=4, gpus=2, model="a", memory=6),
        Job(name="b", release_date=1, duration=3, gpus=2, model="b", memory=5),
    ]
    slow = {"a": {"b": 1.5}, "b": {"a": 2.0}}
    return Sharing.model_validate({"gpus": 3, "jobs": jobs, "interference": slow, **fields})


def runs(*given: tuple[str, float, list[int]]) -> SharingSolution:
    """Return a solution by job, start and GPUs."""
    return SharingSolution(runs=[Run(job=job, start=start, gpus=gpus) for job, start, gpus in given])


def test_partial_overlap_slows_both() -> None:
    """From 1 s on a needs 4.5 s for its 3 s; b has done 2.25 s of its 3 s by then, and ends at 6.25 s."""
    problem = two_jobs()
    shared = runs(("a", 0, [0, 1]), ("b", 1, [1, 2]))

    assert problem.violations(shared) == []
    assert problem.spans(shared) == ((0, Fraction(11, 2)), (1, Fraction(25, 4)))
    assert problem.objective(shared) == (Fraction(11, 2) + Fraction(21, 4)) / 2
    assert problem.measures(shared) == {
        "makespan": Fraction(25, 4),
        "seconds lost to partners": Fraction(3, 2) + Fraction(9, 4),
    }
    assert problem.headline() == {"jobs": 2, "GPUs": 3, "starts": "events"}


def test_the_best_start_may_lie_between_events() -> None:
    """Four jobs end at 25 s together when one starts between two events, and at 26 s when none may."""
    anywhere, at_events = between_events(starts="any"), between_events()
    delayed = runs(("a", 0, [0, 1]), ("b", 2, [0, 1]), ("c", 5, [0]), ("d", 5, [1]))
    best = brute_force(at_events)

    assert [end for _, end in anywhere.spans(delayed)] == [5, 8, 6, 6]
    assert anywhere.violations(delayed) == []
    assert anywhere.objective(delayed) == Fraction(25 - 10, 4)
    assert best is not None
    assert best[0] == Fraction(26 - 10, 4)
    assert at_events.violations(delayed) == ["job 'b' starts at 2, when no job arrives or ends"]
    with pytest.raises(Unsupported, match="any time"):
        brute_force(anywhere)


@pytest.mark.parametrize(
    ("solution", "message"),
    [
        (runs(("a", 0, [0, 1])), "job 'b' runs 0 times, must run once"),
        (runs(("a", 0, [0, 1]), ("a", 4, [0, 1]), ("b", 1, [1, 2])), "job 'a' runs 2 times, must run once"),
        (runs(("c", 0, [0])), "runs[0]: 'c' is not a job of the instance"),
        (runs(("a", 0, [0, 0]), ("b", 1, [1, 2])), "runs[0]: job 'a' must run on 2 different GPUs"),
        (runs(("a", 0, [0, 3]), ("b", 1, [1, 2])), "runs[0]: GPUs must be numbered from 0 to 2"),
        (runs(("a", 0, [0, 1]), ("b", 0.5, [1, 2])), "runs[1]: job 'b' starts at 0.5, before its release at 1"),
        (runs(("a", 0, [0, 1]), ("b", 3.9, [1, 2])), "job 'b' starts at 3.9, when no job arrives or ends"),
    ],
    ids=["missing", "twice", "unknown", "same GPU", "no GPU", "early", "no event"],
)
def test_every_rule_has_its_message(solution: SharingSolution, message: str) -> None:
    """A schedule with one thing wrong breaks the rule that was meant, said in one sentence."""
    assert message in two_jobs().violations(solution)
    assert two_jobs().violations(runs(("a", 0, [0, 1]), ("b", 4, [1, 2]))) == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"share_limit": 1}, "GPU 1 is held by jobs 'a', 'b' at 1"),
        ({"memory": 10}, "GPU 1 does not have the memory for jobs 'a', 'b' at 1"),
    ],
    ids=["limit", "memory"],
)
def test_gpus_hold_what_they_may(fields: dict[str, Any], message: str) -> None:
    """A GPU is shared only where two may hold it and its memory suffices for both."""
    shared = runs(("a", 0, [0, 1]), ("b", 1, [1, 2]))

    assert two_jobs(**fields).violations(shared) == [message]
    assert two_jobs(memory=11).violations(shared) == []


def test_a_third_job_has_no_room() -> None:
    """Two jobs on one GPU are as many as there may be."""
    jobs = [Job(name=name, release_date=0, duration=1, gpus=1) for name in "abc"]
    crowd = runs(*((name, 0, [0]) for name in "abc"))

    assert Sharing(gpus=1, jobs=jobs).violations(crowd) == ["GPU 0 is held by jobs 'a', 'b', 'c' at 0"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"jobs": []}, "jobs: "),
        ({"gpus": 1}, r"jobs\[0\].gpus: 2: must be at most the 1 GPUs"),
        ({"memory": 5}, r"jobs\[0\].memory: 6: must be at most the 5 bytes of a GPU"),
        ({"share_limit": 3}, "share_limit: 3: "),
        ({"default_interference": 0.9}, "default_interference: 0.9: "),
        ({"starts": "rounds"}, "starts: 'rounds': "),
        (
            {"jobs": [Job(name="a", release_date=0, duration=1, gpus=2, menu=[(1, 0.5), (2, 1.0)])]},
            r"jobs\[0\].menu: .*: must be empty",
        ),
        (
            {"jobs": [Job(name="a", release_date=1e12, duration=1, gpus=1)]},
            r"jobs: 1: must be able to end by 1e\+12 s",
        ),
    ],
    ids=["no jobs", "too large", "no memory", "three", "faster", "rounds", "elastic", "too late"],
)
def test_bad_data_get_one_line(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    """A file that breaks a rule is refused in one line with file, field, value and rule."""
    text = to_json(two_jobs().model_copy(update=fields))
    assert re.match(message, refusal(tmp_path, text))


def test_files_round_trip(tmp_path: Path) -> None:
    """A problem and a solution are the same after writing and reading."""
    problem, solution = two_jobs(name="x", memory=12, starts="any"), runs(("a", 0, [0, 1]), ("b", 1, [1, 2]))
    write(problem, tmp_path / "problem.json")
    write(solution, tmp_path / "solution.json")

    assert read_problem(tmp_path / "problem.json") == problem
    assert read_solution(tmp_path / "solution.json", problem) == solution


def drawn(seed: int) -> tuple[Sharing, SharingSolution]:
    """Draw a tiny problem and one of its schedules."""
    random = Random(seed)
    problem = oracle.draw(random)
    every = list(problem.candidates())
    return problem, random.choice(every)


def test_the_judge_agrees_with_a_second_evaluation_on_every_mutation() -> None:
    """Of 700 schedules with one run changed the judge passes those that are still valid, and no others."""
    found = []
    for seed in range(70):
        problem, solution = drawn(seed)
        found.append(check_mutants(problem, solution, oracle.value, Random(seed), problem.gpus))
    broken, valid = map(sum, zip(*found, strict=True))
    assert broken > 350
    assert valid > 50


def test_the_judge_of_schedules_agrees() -> None:
    """As a schedule of the simulator's scenario, what is legal here is legal there, with the same mean."""
    for seed in range(50):
        problem, solution = drawn(seed)
        verdict = judge(problem.schedule(solution), problem.scenario, fairness=False)
        value = problem.objective(solution)
        assert verdict.violations == (), problem.name
        assert verdict.mean_jct is not None
        last = max(float(end - problem.origin) for _, end in problem.spans(solution))
        assert abs(float(value) - verdict.mean_jct) <= clock_error(last, last), problem.name


@pytest.mark.parametrize("release", [0.0, 5.0, 1.7e9 + 0.1])
def test_deadlines_are_on_the_clock_of_the_workload(release: float) -> None:
    """A job has as long until its deadline as before, and is late in the same schedule."""
    job = Job(name="a", release_date=release, duration=10, gpus=2, deadline=release + 15)
    problem = Sharing(gpus=2, jobs=[job, job.model_copy(update={"name": "b"})])
    in_turn = runs(("a", release, [0, 1]), ("b", release + 10, [0, 1]))

    assert [(job.release_date, job.deadline) for job in problem.workload.jobs] == [(0, 15)] * 2
    assert judge(problem.schedule(in_turn), problem.scenario, fairness=False).deadlines_kept == 0.5


def test_a_schedule_of_an_unknown_job_is_refused() -> None:
    """A job that the problem does not have is named."""
    with pytest.raises(InvalidInput, match="schedule: job: 'zz': must be a job of the problem"):
        two_jobs().taken_over(Schedule((Segment("zz", 0, 4, 2, (0, 1)),)))


def test_a_schedule_that_interrupts_is_refused() -> None:
    """A job in two pieces is named."""
    apart = Schedule((Segment("a", 0, 2, 2, (0, 1)), Segment("a", 5, 7, 2, (0, 1))))

    with pytest.raises(InvalidInput, match="schedule: job: 'a': must run from its start to its end"):
        two_jobs().taken_over(apart)


@pytest.mark.parametrize(("scale", "epoch"), [(1e-9, 0.0), (1e9, 0.0), (1e3, 1.7e9)])
def test_starts_are_at_the_events_that_their_floats_mean(scale: float, epoch: float) -> None:
    """At any magnitude and date a start at the float of an end of 17 digits is at that end."""
    jobs = [
        Job(name=name, release_date=epoch, duration=scale * seconds, gpus=1)
        for name, seconds in [("a", 12 / 7), ("b", 1)]
    ]
    problem = Sharing(gpus=1, jobs=jobs, default_interference=1.1)
    in_turn = runs(("a", epoch, [0]), ("b", float(problem.origin + problem.durations[0]), [0]))

    assert problem.violations(in_turn) == []
    assert problem.objective(in_turn) == (2 * problem.durations[0] + problem.durations[1]) / Fraction(2)


FLEXIBLE: dict[str, Any] = {
    "menu": [(1, 0.5), (2, 1.0)],
    "modes": [Mode(name="large", menu=[(2, 1.0)])],
    "phases": [Phase(until=1, slowdown=2.0)],
    "gpu_type": "V100",
    "checkpoints": False,
}


def jobs(**fields: Any) -> list[Job]:
    """Return a job that is rigid, and one with further fields."""
    each = [("a", {}), ("b", fields)]
    return [Job(name=name, release_date=0, duration=1, gpus=2, **own) for name, own in each]


def test_rigid_jobs_pass() -> None:
    """Nothing is raised for jobs that have none of the fields, with memory where it is looked at."""
    for memory in (True, False):
        require_rigid(jobs(), memory=memory)
    require_rigid(jobs(memory=5), memory=True)


@pytest.mark.parametrize("field", FLEXIBLE)
@pytest.mark.parametrize("memory", [True, False])
def test_what_would_be_ignored_is_refused(field: str, memory: bool) -> None:
    """Each field that would let a job run otherwise is refused, with the job's number."""
    with pytest.raises(RuleBroken, match=rf"jobs\[1\]\.{field}: .*: must be (empty|true)"):
        require_rigid(jobs(**{field: FLEXIBLE[field]}), memory=memory)


def test_memory_is_refused_where_nobody_looks_at_it() -> None:
    """A job that says its memory has to leave it out."""
    with pytest.raises(RuleBroken, match=r"jobs\[1\]\.memory: 5: must be left out"):
        require_rigid(jobs(memory=5), memory=False)
