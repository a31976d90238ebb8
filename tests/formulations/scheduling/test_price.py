"""The price of fairness."""

import pytest

from formulations.scheduling import price_of_fairness, smallest_fairness
from gsopt.core.errors import Unsupported
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.strategies.scheduling import figure_4, tiny


def test_fairness_has_a_price_and_no_reward() -> None:
    """With fairness the optimum is never better, with more slack never worse; sometimes it costs something."""
    costly = 0
    for seed in range(8):
        problem = tiny(seed, jobs=(3, 4))
        tight, loose = (price_of_fairness(problem, slack=slack).relative for slack in (0.001, 1.0))
        assert tight is not None
        assert loose is not None
        assert tight >= loose - 1e-6 >= -2e-6
        costly += tight > 1e-3
    assert costly >= 2


def test_the_problem_may_bring_its_fairness() -> None:
    """In Figure 4 nobody need be late, and the constant given is the one that counts."""
    problem = Scheduling(gpus=6, jobs=figure_4().jobs, fairness=0.25)
    price = price_of_fairness(problem)

    assert price.fairness == 0.25
    assert price.relative == pytest.approx(0, abs=1e-6)


def test_fairness_that_cannot_be_kept_has_no_price() -> None:
    """A constant below the smallest possible one is refused with that one."""
    job = ElasticJob(name="a", release=0, work=2, rates={1: 1.0})
    problem = Scheduling(gpus=4, jobs=[job], fairness=0.5)

    assert smallest_fairness(problem) == pytest.approx(1.5)
    with pytest.raises(Unsupported, match=r"smallest fairness possible is 1\.5 s"):
        price_of_fairness(problem)
