"""What holds of every optimum of batching, whatever the numbers."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.batching import dp
from gsopt.core.numbers.grid import Exact
from gsopt.core.result import same
from gsopt.problems.batching import Batching
from instances.suites import changed
from tests.effort import cases
from tests.strategies.batching import CRITERIA, tiny

SEEDS = st.integers(min_value=0, max_value=10**6)

EXAMPLES = settings(max_examples=cases(120), deadline=None)


def best(problem: Batching) -> Exact:
    """Return the optimum."""
    value = dp(problem).objective
    assert isinstance(value, int | Fraction)
    return value


@EXAMPLES
@given(SEEDS)
def test_one_more_gpu_does_no_harm_where_none_must_be_used(seed: int) -> None:
    """A further GPU that may stay idle makes no fewer completions per second."""
    drawn = tiny(seed)
    jobs = [job.model_copy(update={"remaining": job.remaining or 1.0, "progress": None}) for job in drawn.jobs]
    problem = changed(drawn, jobs=jobs, use="any", forced="none", criterion="rate")
    assert best(changed(problem, gpus=problem.gpus + 1)) >= best(problem)


@EXAMPLES
@given(SEEDS, st.randoms(use_true_random=False))
def test_the_order_of_the_jobs_is_of_no_account(seed: int, random: object) -> None:
    """Jobs in another order have the same optimum, where it is not the order that says who must run."""
    problem = changed(tiny(seed), forced="none", criterion="sruf")
    jobs = list(problem.jobs)
    assert hasattr(random, "shuffle")
    random.shuffle(jobs)
    assert best(changed(problem, jobs=jobs)) == best(problem)


@EXAMPLES
@given(SEEDS)
def test_twice_the_weight_is_twice_or_half_the_value(seed: int) -> None:
    """With all weights doubled and changes for free, rates and times are doubled, GPU-seconds halved."""
    for criterion in CRITERIA:
        problem = tiny(seed)
        if criterion == "rate" and any(job.remaining == 0 for job in problem.jobs):
            continue
        problem = changed(problem, criterion=criterion, forced="all", reconfiguration=0.0)
        jobs = [job.model_copy(update={"weight": 2 * job.weight}) for job in problem.jobs]
        factor = Fraction(1, 2) if criterion == "sruf" else 2
        assert best(changed(problem, jobs=jobs)) == factor * best(problem)


@EXAMPLES
@given(SEEDS)
def test_certainty_is_equivalent(seed: int) -> None:
    """By Equation 3 jobs that are known by their means have the optimum of those known by distributions."""
    problem = changed(tiny(seed), criterion="sruf")
    jobs = [
        job if job.progress is None else job.model_copy(update={"remaining": left, "progress": None})
        for job, left in ((job, float(job.left(problem.estimate))) for job in problem.jobs)
    ]
    known = problem.model_copy(update={"jobs": tuple(jobs)})
    exact, rounded = best(problem), best(known)
    assert same(float(exact), float(rounded))
