"""The judge of waiting, against values worked out by hand and an evaluation of its own."""

import re
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.files import to_json, write
from gsopt.problems import Waiting
from gsopt.problems.reader import read_problem, read_solution
from gsopt.problems.waiting import CellShare, Run, WaitingSolution
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.speed import TierPenalty
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.judge import judge
from tests.exactness import waiting as oracle
from tests.gsopt.problems.checks import check_mutants, refusal


def two_jobs(**fields: Any) -> Waiting:
    """Return jobs of 10 s on 2 and 3 GPUs, the second 1 s later, on two racks of two machines of 2 GPUs."""
    jobs = [
        Job(name="a", release_date=0, duration=10, gpus=2, model="alexnet"),
        Job(name="b", release_date=1, duration=10, gpus=3, model="alexnet"),
    ]
    return Waiting(**{"cluster": Cluster.uniform(racks=2, machines=2, gpus=2), "jobs": jobs, **fields})


def runs(*given: tuple[str, float, list[int]]) -> WaitingSolution:
    """Return a solution by job, start and GPUs."""
    return WaitingSolution(runs=[Run(job=job, start=start, gpus=gpus) for job, start, gpus in given])


def test_tiers_make_jobs_longer() -> None:
    """Table I makes 10 s of AlexNet 10.2 s on a machine, 11.3 s in a rack and 20 s across racks."""
    problem = two_jobs()
    near, far = runs(("a", 0, [0, 1]), ("b", 1, [4, 5, 6])), runs(("a", 0, [0, 2]), ("b", 1, [1, 4, 5]))

    assert problem.violations(near) == problem.violations(far) == []
    assert problem.objective(near) == (Fraction("10.2") + Fraction("11.3")) / 2
    assert problem.objective(far) == (Fraction("11.3") + 20) / 2
    assert two_jobs(minimize="makespan").objective(far) == 21
    assert problem.measures(far)["makespan"] == 21
    assert problem.measures(far)["seconds lost to tiers"] == Fraction("1.1") + Fraction("9.8")
    assert problem.headline() == {"jobs": 2, "GPUs": 8, "minimize": "mean_jct"}


def test_slots_round_run_times_up() -> None:
    """In slots of 3 s run times are 12, 12 and 21 s; on one GPU, or of an unknown model, 10 s are 12 s."""
    problem = two_jobs(slot=3)
    alone = Job(name="c", release_date=0, duration=10, gpus=1, model="alexnet")

    assert [problem.run_times(job) for job in problem.jobs] == [(12, 12, 21)] * 2
    assert problem.run_times(alone) == problem.run_times(alone.model_copy(update={"model": "?", "gpus": 4}))


def test_values_are_multiples_of_the_step() -> None:
    """Run times of 10.2, 11.3 and 20 s and releases at whole seconds make means of multiples of 0.05 s."""
    assert two_jobs().step == Fraction(1, 20)
    assert two_jobs(minimize="makespan").step == Fraction(1, 10)


@pytest.mark.parametrize(
    ("solution", "message"),
    [
        (runs(("a", 0, [0, 1])), "job 'b' runs 0 times, must run once"),
        (runs(("a", 0, [0, 1]), ("a", 11, [0, 1]), ("b", 1, [4, 5, 6])), "job 'a' runs 2 times, must run once"),
        (runs(("c", 0, [0, 1])), "runs[0]: 'c' is not a job of the instance"),
        (runs(("a", 0, [0, 0]), ("b", 1, [4, 5, 6])), "runs[0]: job 'a' must run on 2 different GPUs"),
        (runs(("a", 0, [0, 0, 1]), ("b", 1, [4, 5, 6])), "runs[0]: job 'a' must run on 2 different GPUs"),
        (runs(("a", 0, [0, 1, 2]), ("b", 1, [4, 5, 6])), "runs[0]: job 'a' must run on 2 different GPUs"),
        (runs(("a", 0, [0, 8]), ("b", 1, [4, 5, 6])), "runs[0]: GPUs must be numbered from 0 to 7"),
        (
            runs(("a", 0, [0, 1]), ("b", 0.5, [4, 5, 6])),
            "runs[1]: job 'b' starts at 0.5, before its release at 1",
        ),
        (runs(("a", 0, [0, 1]), ("b", 10.199999999, [1, 2, 3])), "GPU 1 is held by jobs 'a' and 'b' at 10.2"),
    ],
    ids=[
        "missing",
        "twice",
        "unknown",
        "same GPU",
        "same GPU and another",
        "too many",
        "no GPU",
        "early",
        "crowded",
    ],
)
def test_every_rule_has_its_message(solution: WaitingSolution, message: str) -> None:
    """A schedule with one thing wrong breaks the rule that was meant, said in one sentence."""
    assert message in two_jobs().violations(solution)
    assert two_jobs().violations(runs(("a", 0, [0, 1]), ("b", 10.2, [1, 2, 3]))) == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"jobs": []}, "jobs: "),
        (
            {"cluster": Cluster.plain(4)},
            "cluster.plain_gpus: 4: must be 0: the cluster must have racks or a network",
        ),
        ({"cluster": Cluster.uniform(machines=1, gpus=2)}, r"jobs\[1\].gpus: 3: must fit the 2 GPUs"),
        ({"slot": 0.0}, "slot: 0.0: "),
        (
            {"penalties": {"alexnet": TierPenalty(machine=0.1, rack=0.2, network=0.1)}},
            r"penalties\[alexnet\].network: 0.1: must be at least the 0.2 of the tier rack",
        ),
        (
            {"jobs": [Job(name="a", release_date=0, duration=1e12, gpus=2, model="alexnet")]},
            r"jobs\[0\].duration: 1000000000000.0: must take at most 1e\+12 s on the widest tier",
        ),
        (
            {"jobs": [Job(name="a", release_date=0, duration=1, gpus=2, menu=[(1, 0.5), (2, 1.0)])]},
            r"jobs\[0\].menu: .*: must be empty",
        ),
        (
            {"penalties": {"vgg11": TierPenalty(machine=0.1, rack=0.2, network=0.3, rac=0.4)}},
            r"penalties\['vgg11'\]: 'rac': must be for a level of the cluster: machine, rack, network",
        ),
    ],
    ids=["no jobs", "plain", "too large", "no slot", "faster farther", "too long", "elastic", "misspelt"],
)
def test_bad_data_get_one_line(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    """A file that breaks a rule is refused in one line with file, field, value and rule."""
    text = to_json(two_jobs().model_copy(update=fields))
    assert re.match(message, refusal(tmp_path, text))


def test_files_round_trip(tmp_path: Path) -> None:
    """A problem and a solution are the same after writing and reading."""
    problem, solution = two_jobs(name="x", slot=1.5), runs(("a", 0, [0, 1]), ("b", 1, [4, 5, 6]))
    write(problem, tmp_path / "problem.json")
    write(solution, tmp_path / "solution.json")

    assert read_problem(tmp_path / "problem.json") == problem
    assert read_solution(tmp_path / "solution.json", problem) == solution


def drawn(seed: int) -> tuple[Waiting, WaitingSolution]:
    """Draw a tiny problem and a schedule of random order and GPUs."""
    random = Random(seed)
    problem = oracle.draw(random)
    shares = []
    for job in random.sample(range(len(problem.jobs)), len(problem.jobs)):
        gpus = random.sample(range(problem.cluster.gpus), problem.jobs[job].gpus)
        cells = [next(c for c, cell in enumerate(problem.cells) if gpu in cell) for gpu in gpus]
        shares.append(CellShare(job, {cell: cells.count(cell) for cell in cells}))
    return problem, problem.started(shares)


def test_the_judge_agrees_with_a_second_evaluation_on_every_mutation() -> None:
    """Of 1,600 schedules with one run changed the judge passes those that are still valid, and no others."""
    found = []
    for seed in range(150):
        problem, solution = drawn(seed)
        found.append(check_mutants(problem, solution, oracle.value, Random(seed), problem.cluster.gpus))
    broken, valid = map(sum, zip(*found, strict=True))
    assert broken > 700
    assert valid > 150


def test_the_judge_of_schedules_agrees() -> None:
    """As a schedule of the simulator's scenario, what is legal here is legal there, with the same mean."""
    for seed in range(100):
        problem, solution = drawn(seed)
        verdict = judge(problem.schedule(solution), problem.scenario, fairness=False)
        assert verdict.violations == (), problem.name
        other = {"mean_jct": verdict.mean_jct, "makespan": verdict.makespan}[problem.minimize]
        assert float(problem.objective(solution)) == pytest.approx(other, rel=1e-9), problem.name


def test_a_schedule_is_taken_over_on_the_exact_clock() -> None:
    """A start within rounding of an end is at that end, one that waits on purpose stays where it is."""
    problem = two_jobs()
    rounded = [Segment("a", 0, 10.2, 2, (0, 1)), Segment("b", 10.2 - 1e-13, 21.5, 3, (0, 2, 3))]
    late = [Segment("a", 0, 10.2, 2, (0, 1)), Segment("b", 15.25, 26.55, 3, (0, 2, 3))]

    assert [run.start for run in problem.taken_over(Schedule(tuple(rounded))).runs] == [0, 10.2]
    assert [run.start for run in problem.taken_over(Schedule(tuple(late))).runs] == [0, 15.25]


def test_starts_at_the_rounded_end_of_another_run_are_exact() -> None:
    """A start that is a tick late for the end on which it waits, on GPUs of its own, is at that end."""
    jobs = [
        Job(name=name, release_date=0, duration=seconds, gpus=gpus)
        for name, seconds, gpus in [("a", 0.3, 2), ("b", 0.7, 2)]
    ]
    problem = Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=jobs)
    late = 0.30000000000000004
    schedule = Schedule((Segment("a", 0, 0.3, 2, (0, 1)), Segment("b", late, 1.0, 2, (2, 3))))

    assert [run.start for run in problem.taken_over(schedule).runs] == [0, 0.3]


def test_a_schedule_of_an_unknown_job_is_refused() -> None:
    """A job that the problem does not have is named."""
    with pytest.raises(InvalidInput, match="schedule: job: 'zz': must be a job of the problem"):
        two_jobs().taken_over(Schedule((Segment("zz", 0, 10, 2, (0, 1)),)))


def test_a_schedule_that_interrupts_is_refused() -> None:
    """A job in two pieces apart, or on other GPUs, is named."""
    apart = Schedule((Segment("a", 0, 5, 2, (0, 1)), Segment("a", 6, 11.2, 2, (0, 1))))
    moved = Schedule((Segment("a", 0, 5, 2, (0, 1)), Segment("a", 5, 10.2, 2, (2, 3))))

    for schedule in (apart, moved):
        with pytest.raises(InvalidInput, match="schedule: job: 'a': must run from its start to its end"):
            two_jobs().taken_over(schedule)


def test_islands_and_pods_are_tiers() -> None:
    """Cells are the innermost groups, whatever the levels are called."""
    machine = Machine(name="m", gpus=4, islands=[Island(name="i", gpus=2), Island(name="k", gpus=2)])
    job = Job(name="a", release_date=0, duration=10, gpus=3, model="alexnet")
    problem = Waiting(cluster=Cluster(racks=[Rack(name="r", machines=[machine])]), jobs=[job])

    assert problem.tiers == ("island", "machine", "rack", "network")
    assert problem.cells == (range(2), range(2, 4))
    assert problem.objective(runs(("a", 0, [0, 1, 2]))) == Fraction("10.2")


@pytest.mark.parametrize("release", [0.0, 0.1, 1.7e9 + 0.1])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_starts_are_exact(scale: float, release: float, tmp_path: Path) -> None:
    """At 17 digits, on any clock, the value is that of the decimals as they are written, and so it is read."""
    jobs = [
        Job(name=str(i), release_date=release, duration=scale * (1 + i / 7), gpus=2, model="bert-large")
        for i in range(4)
    ]
    problem = Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)
    solution = problem.started([CellShare(job, {0: 2}) for job in range(4)])
    exact = sum((4 - i) * problem.run_times(job)[0] for i, job in enumerate(jobs)) / Fraction(4)
    write(solution, tmp_path / "solution.json")

    assert problem.violations(solution) == []
    assert problem.objective(solution) == exact
    assert read_solution(tmp_path / "solution.json", problem) == solution
    assert problem.objective(solution) % (problem.step or 1) == problem.resolution(exact) == 0


def test_the_clock_changes_neither_step_nor_simulation() -> None:
    """On a clock since 1970 the step is that of times from the first release, and the simulator sees these."""
    early = two_jobs()
    jobs = [job.model_copy(update={"release_date": job.release_date + 1.7e9 + 0.25}) for job in early.jobs]
    late = two_jobs(jobs=jobs)

    assert early.step == late.step
    assert early.scenario == late.scenario


def test_exact_instants_break_rules_by_any_amount() -> None:
    """A start that is early by less than any double on its clock tells is early."""
    jobs = [Job(name=n, release_date=1.7e9, duration=0.1, gpus=2) for n in "ab"]
    problem = Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)
    end, little = Fraction(17_000_000_001, 10), Fraction(1, 10**15)
    runs = [
        [Run(job="a", start=1.7e9, gpus=[0, 1]), Run(job="b", start=s, gpus=[0, 1])]
        for s in (end, end - little)
    ]

    assert [problem.violations(WaitingSolution(runs=each)) for each in runs] == [
        [],
        ["GPU 0 is held by jobs 'a' and 'b' at 1.7e+09", "GPU 1 is held by jobs 'a' and 'b' at 1.7e+09"],
    ]
    early = WaitingSolution(runs=[Run(job="a", start=1_700_000_000 - little, gpus=[0, 1]), runs[0][1]])
    assert problem.violations(early) == ["runs[0]: job 'a' starts at 1.7e+09, before its release at 1.7e+09"]
