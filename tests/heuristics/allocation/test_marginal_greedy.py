"""Greedy by marginal value per GPU: where it is optimal and where it is not."""

from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.allocation import exact
from gsopt.evaluation.catalogue import load, names
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.testing import check_heuristic
from heuristics.allocation import marginal_greedy
from instances.allocation import elastic_jobs
from tests.effort import cases


def test_solutions_of_every_small_instance() -> None:
    """On every committed small instance the solution is feasible and never beats the optimum."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]
    assert check_heuristic(marginal_greedy, problems) == len(problems) - 1


@given(st.integers(0, 10_000), st.integers(0, 120))
@settings(deadline=None, max_examples=cases(60))
def test_optimal_with_one_worker_size(seed: int, capacity: int) -> None:
    """With one worker size and proportional speed the greedy finds the optimum, exactly."""
    problem = elastic_jobs(jobs=12, capacity=capacity, sizes="one", seed=seed)
    assert marginal_greedy(problem).objective == exact(problem).objective


def test_blocked_by_a_small_job() -> None:
    """One GPU for a small job (100 s) leaves three that the large one (300 s for four) cannot use."""
    small = ElasticJob(name="small", min_workers=1, max_workers=2, time_at_min=200)
    large = ElasticJob(name="large", min_workers=1, max_workers=2, gpus_per_worker=4, time_at_min=600)
    problem = Allocation(capacity=4, jobs=(small, large))
    assert (marginal_greedy(problem).objective, exact(problem).objective) == (100, 300)


def test_not_optimal_with_several_sizes() -> None:
    """Sizes 2, 3, 5 and sizes 1, 3, 6 leave remainders that cost the greedy some of the value."""
    for name in ("sizes-2-3-5", "sizes-1-3-6"):
        problem = load(f"allocation/small/{name}")
        assert isinstance(problem, Allocation)
        found, best = marginal_greedy(problem).objective, exact(problem).objective
        assert found is not None
        assert best is not None
        assert found < best


def test_blind_behind_a_worker_that_saves_nothing() -> None:
    """A first worker that saves nothing hides the second that saves 50 s."""
    job = ElasticJob(name="a", min_workers=1, max_workers=3, values=(0, 50))
    assert marginal_greedy(Allocation(capacity=2, jobs=(job,))).objective == 0


def test_a_step_of_a_menu_is_one_choice() -> None:
    """Three workers at once for 90 (30 per GPU) come before one for 25, and the last GPU goes to that one."""
    menu = ElasticJob(name="menu", min_workers=1, counts=(3, 4), values=(90, 95))
    single = ElasticJob(name="single", min_workers=1, max_workers=3, values=(25, 26))
    result = marginal_greedy(Allocation(capacity=4, jobs=(menu, single)))
    assert result.solution is not None
    assert (result.objective, dict(result.solution.extra)) == (115, {"menu": 3, "single": 1})


def test_of_equal_steps_that_of_the_first_job_is_taken() -> None:
    """Equal values per GPU go in the order of the jobs, though a later job needs fewer GPUs."""
    large = ElasticJob(name="large", min_workers=1, counts=(2,), values=(20,))
    small = ElasticJob(name="small", min_workers=1, counts=(1,), values=(10,))
    result = marginal_greedy(Allocation(capacity=2, jobs=(large, small)))
    assert result.solution is not None
    assert dict(result.solution.extra) == {"large": 2}
