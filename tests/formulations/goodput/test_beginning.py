"""What jobs have now, and the first bound."""

from formulations.goodput.beginning import alone, kept
from formulations.goodput.case import Case
from gsopt.problems.goodput import Goodput
from tests.effort import cases
from tests.exactness import goodput as oracle
from tests.strategies.goodput import job, tiny


def test_what_breaks_a_rule_is_not_kept() -> None:
    """A job on GPUs that it may not have any more, and the second of two wide ones that meet, have none."""
    rows = ([1.0, 2.0], [1.5])
    jobs = [job("a", *rows, current=[1, 1]), job("b", *rows, current=[1, 1]), job("c", *rows, current=[2, 0])]
    problem = Goodput(nodes=[4, 2], jobs=[*jobs[:2], jobs[2].model_copy(update={"max_gpus": 1})])
    assert kept(Case.of(problem)).gpus == {"a": (1, 1)}


def test_the_bound_holds() -> None:
    """No optimum is below it."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        assert alone(Case.of(problem)) <= oracle.optimum(problem), seed
