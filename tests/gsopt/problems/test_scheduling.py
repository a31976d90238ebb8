"""The judge of scheduling, against values worked out by hand and an evaluation of its own in fractions."""

import json
from fractions import Fraction
from itertools import pairwise
from math import ceil, ulp
from pathlib import Path
from random import Random
from typing import Any

import pytest

from formulations.scheduling.instance import Instance
from formulations.scheduling.timetable import replay
from gsopt.core.errors import InvalidInput, InvalidSolution
from gsopt.core.files import to_json, write
from gsopt.core.numbers.clock import clock_error
from gsopt.core.problem import Number
from gsopt.problems import Scheduling
from gsopt.problems.reader import read_problem, read_solution
from gsopt.problems.scheduling import ElasticJob, Run, SchedulingSolution
from gsopt.schedule import Schedule, Segment
from gsopt.testing import check_judge
from tests.effort import cases
from tests.strategies.scheduling import figure_4, tiny, wandering

#: Figure 4 of Ares, as printed: job 2 gives way to job 3, runs beside it, and has all GPUs at the end.
FIGURE_4 = (
    ("1", 0.0, 3.0, 4),
    ("2", 0.0, 2.0, 2),
    ("3", 2.0, 3.0, 2),
    ("3", 3.0, 5.5, 4),
    ("2", 3.0, 5.5, 2),
    ("2", 5.5, 8.0, 6),
)


def schedule(*runs: tuple[str, float, float, int]) -> SchedulingSolution:
    """Return a solution by job, start, end and GPUs of its runs."""
    return SchedulingSolution(
        runs=[Run(job=job, start=start, end=end, gpus=gpus) for job, start, end, gpus in runs]
    )


def drawn(seed: int) -> tuple[Scheduling, SchedulingSolution]:
    """Draw a tiny problem, a third of them with fairness, and a random schedule that completes every job."""
    problem = tiny(seed, fair=seed % 3 == 0)
    instance = Instance.of(problem)
    steps, _ = wandering(instance, Random(seed))
    return problem, replay(instance, steps).solution


def fluid(problem: Scheduling) -> dict[str, Fraction]:
    """Return every job's finish under an equal share, event by event: GPU-seconds left, no virtual time."""
    left = {job.name: Fraction(job.work) / Fraction(job.rates[job.demand]) * job.demand for job in problem.jobs}
    release = {job.name: Fraction(job.release) for job in problem.jobs}
    finish: dict[str, Fraction] = {}
    now = min(release.values())
    while len(finish) < len(left):
        there = [name for name in left if release[name] <= now and name not in finish]
        ahead = [time for time in release.values() if time > now]
        if not there:
            now = min(ahead)
            continue
        share = Fraction(problem.gpus, len(there))
        step = min([left[name] / share for name in there] + [time - now for time in ahead])
        now += step
        for name in there:
            left[name] -= step * share
            if left[name] == 0:
                finish[name] = now
    return finish


def completions(problem: Scheduling, solution: SchedulingSolution) -> dict[str, Fraction]:
    """Return the end of every job's last run."""
    return {
        job.name: max(Fraction(run.end) for run in solution.runs if run.job == job.name) for job in problem.jobs
    }


def is_valid(problem: Scheduling, solution: SchedulingSolution) -> bool:
    """Check whether a schedule keeps every rule, written out rule by rule."""
    jobs = {job.name: job for job in problem.jobs}
    own: dict[str, list[Run]] = {name: [] for name in jobs}
    for run in solution.runs:
        if run.job not in jobs or run.start >= run.end:
            return False
        if run.start < jobs[run.job].release or run.gpus not in jobs[run.job].rates:
            return False
        own[run.job].append(run)
    for instant in {run.start for run in solution.runs}:
        held = [run for run in solution.runs if run.start <= instant < run.end]
        if sum(run.gpus for run in held) > problem.gpus or len({run.job for run in held}) < len(held):
            return False
    for name, job in jobs.items():
        done = sum(
            (Fraction(run.end) - Fraction(run.start)) * Fraction(job.rates[run.gpus]) for run in own[name]
        )
        if abs(done - Fraction(job.work)) > Fraction(job.work) / 10**7:
            return False
    if problem.fairness is None:
        return True
    fair, ends = fluid(problem), completions(problem, solution)
    late = max(ends[name] - fair[name] for name in jobs)
    return float(late) <= problem.fairness * (1 + 1e-9)


def measured(problem: Scheduling, solution: SchedulingSolution) -> dict[str, Number]:
    """Return the measures of a valid schedule."""
    fair, ends = fluid(problem), completions(problem, solution)
    release = {job.name: Fraction(job.release) for job in problem.jobs}
    times = sorted(ends[name] - release[name] for name in ends)
    ratios = [(ends[name] - release[name]) / (fair[name] - release[name]) for name in ends]
    pauses = 0
    for name in ends:
        own = sorted((run.start, run.end) for run in solution.runs if run.job == name)
        pauses += sum(late > end for (_, end), (late, _) in pairwise(own))
    return {
        "p99_jct": times[ceil(Fraction(99, 100) * len(times)) - 1],
        "makespan": max(ends.values()) - min(release.values()),
        "gps_unfair_fraction": Fraction(sum(ratio > 1 + Fraction(1, 10**9) for ratio in ratios), len(ratios)),
        "gps_worst_fairness": max(ratios),
        "largest delay behind GPS (s)": max(ends[name] - fair[name] for name in ends),
        "preemptions_per_job": Fraction(pauses, len(ends)),
    }


def mutants(problem: Scheduling, solution: SchedulingSolution, random: Random) -> list[SchedulingSolution]:
    """Change one run in every way that there is."""
    place = random.randrange(len(solution.runs))
    run = solution.runs[place]
    names = [job.name for job in problem.jobs]
    length = run.end - run.start
    shift = random.uniform(0.05, 2)
    changes: list[dict[str, Any]] = [
        {"end": run.start},
        {"end": run.end + shift},
        {"end": run.start + length * random.uniform(0.1, 0.9)},
        {"start": run.start + length * random.uniform(0.1, 0.9)},
        {"start": run.start + shift, "end": run.end + shift},
        {"start": max(0.0, run.start - shift), "end": max(0.0, run.start - shift) + length},
        {"gpus": run.gpus + 1},
        {"gpus": run.gpus + problem.gpus},
        {"job": "nobody"},
        {"job": random.choice(names)},
    ]
    others = [*solution.runs[:place], *solution.runs[place + 1 :]]
    changed = [SchedulingSolution(runs=[*others, run.model_copy(update=change)]) for change in changes]
    twice = SchedulingSolution(runs=[*solution.runs, run])
    return [SchedulingSolution(runs=others), twice, *changed]


def test_figure_4() -> None:
    """The printed schedule is legal, its mean job completion time is (3 + 8 + 3.5) / 3, and no job is late."""
    problem = figure_4()
    solution = schedule(*FIGURE_4)

    assert problem.violations(solution) == []
    assert problem.objective(solution) == pytest.approx((3 + 8 + 3.5) / 3, rel=1e-15)
    expected = {
        "p99_jct": 8.0,
        "makespan": 8.0,
        "mean_queueing": pytest.approx(1 / 3),
        "utilisation": 1.0,
        "unfair_fraction": 0.0,
        "worst_fairness": 1.0,
        "gps_unfair_fraction": 0.0,
        "gps_worst_fairness": 1.0,
        "preemptions": 1,
        "preemptions_per_job": 1 / 3,
        "resizes": 2,
        "gpu_hours": 48 / 3600,
        "largest delay behind GPS (s)": 0.0,
    }
    found = problem.measures(solution)
    assert {name: found[name] for name in expected} == expected
    assert not {"jobs", "mean_jct", "gap"} & found.keys()  # the instance and its objective say these
    assert (problem.unit, problem.headline()) == ("seconds of mean job completion time", {"jobs": 3, "GPUs": 6})


def test_one_after_the_other() -> None:
    """Two jobs of 2 and 4 s on one GPU, the short one last, take 4 and 6 s and 2 s longer than a fair share."""
    jobs = [ElasticJob(name=name, release=0, work=work, rates={1: 0.5}) for name, work in [("a", 1), ("b", 2)]]
    problem = Scheduling(gpus=1, jobs=jobs)
    solution = schedule(("b", 0, 4, 1), ("a", 4, 6, 1))

    assert problem.objective(solution) == 5
    assert problem.measures(solution)["largest delay behind GPS (s)"] == 2
    assert problem.measures(solution)["worst_fairness"] == 1.5
    assert problem.measures(solution)["unfair_fraction"] == 0.5


@pytest.mark.parametrize(
    ("place", "run", "message"),
    [
        (2, ("3", 1.0, 2.0, 2), "segments[2]: job '3' starts at 1.0, before its release at 2.0"),
        (2, ("3", 2.0, 3.0, 3), "segments[2]: GPU count 3 of job '3' is not one of (1, 2, 4)"),
        (2, ("3", 2.0, 3.0, 4), "at 2.0: 8 GPUs are held, 6 are there"),
        (2, ("3", 2.5, 3.5, 2), "job '3' holds two sets of GPUs at 3.0"),
        (2, ("3", 2.0, 2.5, 2), "job '3' does not complete: 11.0 s of 12.0 s of work are done"),
        (5, ("2", 5.5, 9.0, 6), "job '2' runs for 30.0 s of work, it has 24.0"),
        (2, ("4", 2.0, 3.0, 2), "segments[2]: '4' is not a job of the workload"),
        (2, ("3", 3.0, 2.0, 2), "segments[2]: a segment must end after it starts"),
    ],
    ids=["release", "count", "capacity", "overlap", "too little", "too much", "unknown", "backwards"],
)
def test_every_rule_has_its_message(place: int, run: tuple[str, float, float, int], message: str) -> None:
    """A schedule of Figure 4 with one run changed breaks the rule that was meant, said in one sentence."""
    runs = list(FIGURE_4)
    runs[place] = run

    assert message in figure_4().violations(schedule(*runs))


def test_a_job_that_never_runs_does_not_complete() -> None:
    """Without any run a job is missed, whatever the others do."""
    runs = [run for run in FIGURE_4 if run[0] != "1"]
    assert figure_4().violations(schedule(*runs)) == [
        "job '1' does not complete: 0.0 s of 12.0 s of work are done"
    ]
    assert len(figure_4().violations(schedule())) == 3
    for figure in (figure_4().objective, figure_4().measures):
        with pytest.raises(InvalidSolution, match="no job completes"):
            figure(schedule())


def test_fairness_is_a_deadline() -> None:
    """Under the fair share the jobs of Figure 4 finish at 5, 8 and 7 s; a constant of 0 keeps them in time."""
    problem = figure_4().model_copy(update={"fairness": 0.0})
    late = schedule(
        *FIGURE_4[:3], ("2", 3.0, 6.0, 6), ("2", 6.0, 6.5, 4), ("3", 6.0, 8.5, 2), ("3", 8.5, 9.75, 4)
    )

    assert fluid(problem) == {"1": 5, "2": 8, "3": 7}
    assert problem.violations(schedule(*FIGURE_4)) == []
    assert problem.violations(late) == [
        "job '3' completes at 9.75, more than the fairness of 0 s after its fair share would at 7"
    ]
    assert problem.model_copy(update={"fairness": 2.75}).violations(late) == []
    assert problem.model_copy(update={"fairness": 2.7}).violations(late) != []
    assert figure_4().violations(late) == []


@pytest.mark.parametrize("release", [0.0, 1.7e9])
def test_a_deadline_is_missed_by_more_than_rounding(release: float) -> None:
    """A job that is late by a tick of the clock is in time, one that is late by ten microseconds is not."""
    job = ElasticJob(name="a", release=release, work=2, rates={1: 1.0})
    problem = Scheduling(gpus=1, jobs=[job], fairness=0.5)

    def late(seconds: float) -> bool:
        return bool(problem.violations(schedule(("a", release + 0.5 + seconds, release + 2.5 + seconds, 1))))

    assert not late(0)
    assert not late(ulp(release + 2.5))
    assert late(1e-5)


@pytest.mark.parametrize("release", [0.0, 1.7e9])
def test_nothing_is_gained_by_what_is_excused(release: float) -> None:
    """Twenty jobs of a second that are all shorter by what is excused are scored no better than the optimum."""
    jobs = [ElasticJob(name=str(i), release=release, work=1, rates={1: 1.0}) for i in range(20)]
    problem = Scheduling(gpus=1, jobs=jobs)
    excuse = 0.8 * clock_error(release + 1, 1)
    times = [release + i * (1 - excuse) for i in range(21)]
    solution = schedule(*((str(i), *ends, 1) for i, ends in enumerate(pairwise(times))))
    assert problem.violations(solution) == []
    assert 10.5 <= problem.objective(solution) <= 10.5 * (1 + 1e-9) + 20 * excuse
    assert problem.resolution(10.5) == pytest.approx(1e-6 * 10.5, rel=1e-12)


def test_the_judge_agrees_with_a_second_evaluation() -> None:
    """On random schedules validity, objective and measures are those of the evaluation in fractions."""
    unfair = 0
    for seed in range(cases(400)):
        problem, solution = drawn(seed)
        assert (problem.violations(solution) == []) == is_valid(problem, solution), problem.name
        unfair += bool(problem.violations(solution))
        ends = completions(problem, solution)
        mean = sum(ends[job.name] - Fraction(job.release) for job in problem.jobs) / len(problem.jobs)
        assert problem.objective(solution) == pytest.approx(float(mean), rel=1e-9)
        figures = {name: float(value) for name, value in measured(problem, solution).items()}
        found = {name: problem.measures(solution)[name] for name in figures}
        assert found == pytest.approx(figures, rel=1e-9, abs=1e-9), problem.name
    assert 0.25 <= unfair / cases(400) <= 0.325


def test_the_judge_catches_every_mutation() -> None:
    """Of hundreds of schedules with one run changed the judge passes only those that are still valid."""
    caught = tried = passed = 0
    for seed in range(cases(300)):
        problem, solution = drawn(seed)
        if problem.violations(solution):  # unfair
            continue
        every = mutants(problem, solution, Random(seed))
        broken = [mutant for mutant in every if not is_valid(problem, mutant)]
        valid = [mutant for mutant in every if is_valid(problem, mutant)]
        found, count = check_judge(problem, solution, broken)
        caught, tried, passed = caught + found, tried + count, passed + len(valid)
        assert [problem.violations(mutant) for mutant in valid] == [[] for _ in valid], problem.name
    assert tried > cases(2_000)
    assert caught == tried
    assert passed > cases(50)


def test_rounding_is_excused() -> None:
    """A billionth of a billionth more or less of the work is no violation, a millionth is."""
    problem = Scheduling(gpus=1, jobs=[ElasticJob(name="a", release=0, work=1, rates={1: 0.1})])

    assert problem.violations(schedule(("a", 0, 10 * (1 + 1e-13), 1))) == []
    assert problem.violations(schedule(("a", 0, 10 * (1 - 1e-13), 1))) == []
    assert problem.violations(schedule(("a", 0, 10 * (1 + 1e-6), 1))) != []
    assert problem.violations(schedule(("a", 0, 10 * (1 - 1e-6), 1))) != []


def test_a_demand_above_the_smallest_count() -> None:
    """Work counts in seconds on the demanded GPUs, and counts that do not fit the cluster are left out."""
    job = ElasticJob(name="a", release=0, work=12, rates={8: 6.0, 1: 1.0, 2: 1.5}, gpus=2)
    problem = Scheduling(gpus=4, jobs=[job])

    assert (job.demand, job.duration) == (2, 8.0)
    assert problem.workload.jobs[0].menu == ((1, 1 / 1.5), (2, 1.0))
    assert problem.violations(schedule(("a", 0, 6, 1), ("a", 6, 10, 2))) == []
    assert any("count 8" in line for line in problem.violations(schedule(("a", 0, 2, 8))))


def test_files_round_trip(tmp_path: Path) -> None:
    """A problem and a solution are the same after writing and reading, with the counts as keys of text."""
    problem = Scheduling(
        name="x",
        gpus=4,
        fairness=0.5,
        jobs=[
            ElasticJob(name="a", release=0.1, work=1 / 3, rates={2: 0.7, 1: 0.4}, gpus=2),
            ElasticJob(name="b", release=0, work=1e-3, rates={3: 1e-3}),
        ],
    )
    write(problem, tmp_path / "x.json")
    write(schedule(*FIGURE_4), tmp_path / "solution.json")

    assert read_problem(tmp_path / "x.json") == problem
    assert read_solution(tmp_path / "solution.json", problem) == schedule(*FIGURE_4)
    assert json.loads(to_json(problem))["jobs"][0]["rates"] == {"2": 0.7, "1": 0.4}
    for seed in range(30):
        write(tiny(seed), tmp_path / f"tiny-{seed}.json")
        assert read_problem(tmp_path / f"tiny-{seed}.json") == tiny(seed)


def test_integers_are_fine_where_seconds_are_meant(tmp_path: Path) -> None:
    """A file written by hand needs no decimal points."""
    path = tmp_path / "by-hand.json"
    path.write_text(
        '{"problem": "scheduling", "gpus": 2, '
        '"jobs": [{"name": "a", "release": 1, "work": 4, "rates": {"2": 2}}]}'
    )
    job = ElasticJob(name="a", release=1.0, work=4.0, rates={2: 2.0})
    assert read_problem(path) == Scheduling(name="by-hand", gpus=2, jobs=[job])


JOBS: dict[str, tuple[dict[str, Any], str]] = {
    "no rates": ({"rates": {}}, "jobs[0].rates: {}: dictionary should have at least 1 item"),
    "list of rates": ({"rates": [1, 2]}, "jobs[0].rates: [1, 2]: input should be an object"),
    "rate 0": ({"rates": {"1": 0}}, "jobs[0].rates.1: 0: input should be greater than 0"),
    "negative rate": ({"rates": {"1": -1.5}}, "jobs[0].rates.1: -1.5: input should be greater than 0"),
    "rate of text": ({"rates": {"1": "1"}}, "jobs[0].rates.1: '1': input should be a valid number"),
    "huge rate": ({"rates": {"1": 1e13}}, "jobs[0].rates.1: 10000000000000.0: input should be less than or"),
    "rate of 400 digits": ({"rates": {"1": 10**400}}, "jobs[0].rates.1: 1000000000000000000000000000..."),
    "count 0": ({"rates": {"0": 1}}, "jobs[0].rates: '0': every key should be greater than or equal to 1"),
    "count of letters": ({"rates": {"x": 1}}, "jobs[0].rates: 'x': every key should be a valid integer"),
    "half a count": ({"rates": {"1.5": 1}}, "jobs[0].rates: '1.5': every key should be a valid integer"),
    "huge count": ({"rates": {"1000001": 1}}, "jobs[0].rates: '1000001': every key should be less than or"),
    "count of 5,000 digits": ({"rates": {"9" * 5000: 1}}, "jobs[0].rates: '999999999999999999999999999..."),
    "count of two lines": (
        {"rates": {"1\n2": 1}},
        r"jobs[0].rates: '1\n2': every key should be a valid integer",
    ),
    "demand without a rate": ({"gpus": 3}, "jobs[0].gpus: 3: must be one of the counts with a rate, [1, 2]"),
    "demand of text": ({"gpus": "1"}, "jobs[0].gpus: '1': input should be a valid integer"),
    "rates too large": ({"rates": {"8": 1.0}}, "jobs[0].rates: 8: must fit the 4 GPUs of the cluster"),
    "demand too large": ({"rates": {"8": 2, "1": 1}, "gpus": 8}, "jobs[0].gpus: 8: must fit the 4 GPUs"),
    "doubled name": ({"name": "b"}, "jobs[1].name: 'b': must differ from every other name"),
    "no name": ({"name": ""}, "jobs[0].name: '': string should have at least 1 character"),
    "name with an escape": ({"name": "\x1b[31m"}, r"jobs[0].name: '\x1b[31m': string should match pattern"),
    "negative release": ({"release": -1}, "jobs[0].release: -1: input should be greater than or equal to 0"),
    "release of text": ({"release": "0"}, "jobs[0].release: '0': input should be a valid number"),
    "truth value": ({"release": True}, "jobs[0].release: True: input should be a valid number"),
    "huge release": (
        {"release": 1e13},
        "jobs[0].release: 10000000000000.0: input should be less than or equal",
    ),
    "no work": ({"work": 0}, "jobs[0].work: 0: input should be greater than 0"),
    "huge work": ({"work": 1e16}, "jobs[0].work: 1e+16: input should be less than or equal to"),
    "longer than any": (
        {"work": 1e15, "rates": {"1": 1e-3}},
        "jobs[0].work: 1000000000000000.0: must take at most 1e+12 s on the demanded GPUs",
    ),
    "rates too different": (
        {"rates": {"1": 1e-6, "2": 1e3}},
        "jobs[0].rates: {1: 1e-06, 2: 1000.0}: must differ by a factor of at most 1e+06",
    ),
    "unknown key": ({"deadline": 3}, "jobs[0].deadline: 3: is not a known key"),
}

PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "no GPUs": ({"gpus": 0}, "gpus: 0: input should be greater than or equal to 1"),
    "half a GPU": ({"gpus": 1.5}, "gpus: 1.5: input should be a valid integer"),
    "huge cluster": ({"gpus": 10**12}, "gpus: 1000000000000: input should be less than or equal to 1000000"),
    "no jobs": ({"jobs": []}, "jobs: []: value should have at least 1 item"),
    "jobs of text": ({"jobs": "ab"}, "jobs: 'ab': input should be a valid array"),
    "empty job": ({"jobs": [None]}, "jobs[0]: None: input should be an object"),
    "job without work": (
        {"jobs": [{"name": "a", "release": 0, "rates": {"1": 1}}]},
        "jobs[0].work: is required",
    ),
    "negative fairness": ({"fairness": -1}, "fairness: -1: input should be greater than or equal to 0"),
    "fairness of text": ({"fairness": "x"}, "fairness: 'x': input should be a valid number"),
    "unknown key": ({"capacity": 3}, "capacity: 3: is not a known key"),
}


def document(job: dict[str, Any], problem: dict[str, Any]) -> str:
    """Return the text of a file with some fields of its first job and of itself changed."""
    first = {"name": "a", "release": 0, "work": 12, "rates": {"1": 1.0, "2": 1.5}, **job}
    other = {"name": "b", "release": 1, "work": 2, "rates": {"1": 1.0}}
    return json.dumps({"problem": "scheduling", "gpus": 4, "jobs": [first, other], **problem})


def refusal(path: Path, text: str) -> str:
    """Write a file, read it, and give what is said against it after its name."""
    path.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_problem(path)
    line = str(caught.value)
    assert line.startswith(f"{path}: ")
    assert line.isprintable()
    assert len(line) < 250 + len(str(path))
    return line.removeprefix(f"{path}: ")


@pytest.mark.parametrize(("fields", "line"), JOBS.values(), ids=JOBS.keys())
def test_malformed_jobs_give_one_line(tmp_path: Path, fields: dict[str, Any], line: str) -> None:
    """A job that breaks a rule is refused with file, field, value and rule in one line."""
    assert refusal(tmp_path / "bad.json", document(fields, {})).startswith(line)


@pytest.mark.parametrize(("fields", "line"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_malformed_problems_give_one_line(tmp_path: Path, fields: dict[str, Any], line: str) -> None:
    """A problem that breaks a rule is refused with file, field, value and rule in one line."""
    assert refusal(tmp_path / "bad.json", document({}, fields)).startswith(line)


@pytest.mark.parametrize(
    ("number", "line"),
    [
        ("NaN", "NaN: must be a finite number"),
        ("Infinity", "Infinity: must be a finite number"),
        ("1e999", "jobs[0].rates.2: inf: input should be a finite number"),
        ("9" * 5000, "an integer of thousands of digits: must be a number"),
        ('1.5, "1": 2', "'1': must not occur twice in one object"),
    ],
    ids=["NaN", "infinity", "1e999", "5,000 digits", "doubled count"],
)
def test_numbers_that_are_none_give_one_line(tmp_path: Path, number: str, line: str) -> None:
    """Rates that JSON or Python would let pass are refused with what they are."""
    assert refusal(tmp_path / "bad.json", document({}, {}).replace("1.5", number)).startswith(line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"runs": [{"job": "a", "start": 0, "end": 1}]}', "runs[0].gpus: is required"),
        ('{"runs": [{"job": "a", "start": -1, "end": 1, "gpus": 1}]}', "runs[0].start: -1: input should be"),
        ('{"runs": [{"job": "a", "start": 0, "end": 1e999, "gpus": 1}]}', "runs[0].end: inf: input should be"),
        ('{"runs": [{"job": "a", "start": 0, "end": 1, "gpus": 0}]}', "runs[0].gpus: 0: input should be"),
        ('{"runs": 3}', "runs: 3: input should be a valid array"),
    ],
)
def test_malformed_solutions_give_one_line(tmp_path: Path, text: str, line: str) -> None:
    """A solution that is none is refused with file, field, value and rule in one line."""
    path = tmp_path / "solution.json"
    path.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_solution(path, figure_4())
    assert str(caught.value).startswith(f"{path}: {line}")


def test_only_default_modes_are_taken_over() -> None:
    """The problem knows no modes, so a schedule with one is refused in one line."""
    schedule = Schedule((Segment("a", 0, 1, 1), Segment("a", 1, 2, 1, (), "halves")))
    with pytest.raises(InvalidInput, match=r"schedule: segments\[1\].mode: 'halves': must be the default mode"):
        SchedulingSolution.of(schedule)


@pytest.mark.parametrize("rate", [1.0, 3e6])
def test_a_schedule_of_an_unknown_job_is_refused(rate: float) -> None:
    """A job that the problem does not have is named, also where times are recomputed in exact numbers."""
    job = ElasticJob(name="a", release=1_700_000_000, work=1, rates={1: rate})
    problem = Scheduling(gpus=1, jobs=[job])

    with pytest.raises(InvalidInput, match=r"schedule: segments\[0\].job: 'zz': must be a job of the problem"):
        problem.taken_over(Schedule((Segment("zz", 0, 1 / rate, 1),)))


@pytest.mark.parametrize(("resumed", "rules"), [(2.0, 0), (3.0, 1)])
def test_a_job_that_must_not_be_preempted(resumed: float, rules: int) -> None:
    """A job may be resized where it may not pause, but it may not pause."""
    job = ElasticJob(name="a", release=0, work=4, rates={1: 1.0, 2: 2.0})
    solution = schedule(("a", 0.0, 2.0, 1), ("a", resumed, resumed + 1, 2))
    problem = Scheduling(gpus=2, jobs=[job], preemptive=False)

    assert len(problem.violations(solution)) == rules
    assert problem.model_copy(update={"preemptive": True}).violations(solution) == []
