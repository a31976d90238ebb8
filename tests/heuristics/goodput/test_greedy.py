"""One change after the other."""

from gsopt.problems.goodput import Goodput, GoodputSolution
from heuristics.goodput import greedy
from heuristics.goodput.greedy import _State
from heuristics.goodput.table import SpeedupTable
from tests.effort import cases
from tests.strategies.goodput import LINEAR, job, tiny


def test_idle_gpus_go_where_they_gain_most() -> None:
    """The job with the steeper speed-up has the GPUs that the other one gains less by."""
    flat, steep = job("flat", [1.0, 1.1, 1.2]), job("steep", [1.0, 2.0, 3.0])
    result = greedy(Goodput(nodes=[4], jobs=[flat, steep]))
    assert result.solution is not None
    assert result.solution.gpus == {"flat": (1,), "steep": (3,)}


def test_a_new_job_takes_a_gpu_of_another_one() -> None:
    """Where no GPU is idle a job that has many gives one."""
    jobs = [job("old", *LINEAR, current=[3], age=36_000.0), job("new", *LINEAR, age=36_000.0)]
    result = greedy(Goodput(nodes=[3], jobs=jobs))
    assert result.solution is not None
    assert result.solution.gpus == {"old": (2,), "new": (1,)}


def test_what_breaks_a_rule_is_given_up() -> None:
    """A job that has more than it may begins without GPUs."""
    result = greedy(Goodput(nodes=[3], jobs=[job("a", *LINEAR, current=[3], max_gpus=2)]))
    assert result.solution is not None
    assert result.solution.gpus == {"a": (2,)}


def test_it_is_never_worse_than_what_runs() -> None:
    """Where all may keep what they have the mean does not rise."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        kept = GoodputSolution(gpus={each.name: each.current for each in problem.jobs if each.current})
        if not problem.violations(kept):
            found = greedy(problem).objective
            assert found is not None
            assert found <= problem.objective(kept), seed


def test_who_changes_is_computed_anew() -> None:
    """After each change what every job would count is what it would be if all were computed again."""
    for seed in range(cases(50)):
        state = _State(SpeedupTable.of(tiny(seed)))
        going = True
        while going and state.vectors.size:
            going = state.change()
            after, now = state.after.copy(), state.now.copy()
            for number in range(len(now)):
                state._update(number)  # noqa: SLF001 - what is tested
            assert (state.after == after).all(), seed
            assert (state.now == now).all(), seed
