"""What every policy has in common."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, nan

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.evaluation import catalogue
from gsopt.evaluation.policies import compare_policies
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Policy, simulate
from gsopt.studies.options import known_options
from gsopt.testing import check_policy
from heuristics import policies
from tests.gsopt.simulation.scenarios import bundle

POLICIES = [getattr(policies, name) for name in policies.__all__]

#: What numbers are written as; and such options that are read only where they are needed, or by Python.
_NUMBERS = (int, float, int | None, float | None, float | Fraction)
_UNREAD = ("seed", "margin")

_SIZES = [(0, 5, 1), (0, 2, 4), (1, 3, 2), (2, 1, 1), (2, 8, 1), (9, 1, 4), (9, 2, 2)]
_JOBS = bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(_SIZES))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
def test_every_policy_passes_the_check(policy: Policy) -> None:
    """Each listed policy replays a small workload legally and within the bound."""
    assert check_policy(policy, [Scenario(workload=_JOBS, cluster=Cluster.plain(4))]) == 2


@pytest.mark.parametrize("name", [*catalogue.policies(), *catalogue.policy_paths()])
def test_numbers_are_numbers(name: str) -> None:
    """An option that is a number refuses what is none, or is without end, in one line that names the option."""
    policy = catalogue.find_policy(catalogue.policy_paths().get(name, name))
    one = bundle([Job(name="a", release_date=0, duration=3, gpus=1)])
    numbers = [option for option, kind in known_options(policy).items() if kind in _NUMBERS]
    for option, value in product(numbers, ["60", [60], nan, -inf, -(10**400)]):
        if option not in _UNREAD:
            with pytest.raises(InvalidInput, match=rf"\b{option}: .* (must|should) be "):
                simulate(one, partial(policy, **{option: value}), cluster=1)


def test_comparison_prints_a_line_per_policy() -> None:
    """A comparison has the figures of each policy, in the order given, and prints them."""
    comparison = compare_policies(_JOBS, POLICIES, cluster=4)
    text = str(comparison)

    assert [row.policy for row in comparison] == list(policies.__all__)
    assert all(name in text for name in policies.__all__)
    assert all(row.gap is not None and row.gap >= -1e-9 for row in comparison)
    assert list(comparison.records()[0])[:4] == ["policy", "jobs", "completed", "mean_jct"]


def test_comparison_fits_a_page() -> None:
    """A comparison of policies with long names, on jobs over weeks, fits a page and says what it leaves out."""
    jobs = bundle(
        Job(name=j.name, release_date=j.release_date, duration=1e6 * j.duration, gpus=j.gpus)
        for j in _JOBS.jobs
    )
    large = compare_policies(jobs, [policies.fifo_skipping, partial(policies.tiresias, promote=2.0)], cluster=4)
    text = str(large)
    assert max(map(len, text.splitlines())) <= 80
    assert "tiresias(promote=2.0)" in text
    assert "left out: " in text
    assert "gap to the lower bound of" in text


@pytest.mark.parametrize(
    ("name", "expected"),
    [  # two GPUs; a (0 s; 4 s on 1), b (0 s; 3 s on 2), c (1 s; 1 s on 1)
        ("fifo", (4, 7, 8)),
        ("fifo_skipping", (4, 7, 2)),
        ("sia", (64, 3, 61)),
        ("sjf", (7, 3, 4)),
        ("best_pairs", (7, 3, 4)),
        ("restricted_sharing", (4, 7, 2)),
        ("sjf_bsbf", (7, 3, 4)),
        ("sjf_ffs", (7, 3, 4)),
        ("ssf", (4, 7, 2)),
        ("srtf", (7, 4, 2)),
        ("srsf", (4, 7, 2)),
        ("las", (7, 4, 5)),
        ("tiresias", (4, 7, 2)),
        ("equal_share", (4, 7, 2)),
        ("efq", (4, 7, 2)),
        ("afs", (7, 4, 2)),
        ("optimus", (4, 63, 121)),
        ("elastic_srtf", (7, 4, 2)),
        ("elastic_las", (7, 4, 5)),
        ("break_even", (4, 7, 2)),
        ("dally", (4, 7, 2)),
        ("lucid", (4, 7, 2)),
        ("muri", (4, 7, 2)),
        ("gandiva", (4, 7, 2)),
        ("gandiva_growing", (4, 7, 8)),
        ("gandiva_rotation", (4, 8, 5)),
        ("skew_consolidation", (4, 7, 2)),
        ("marginal", (4, 7, 2)),
        ("marginal_attained", (4, 7, 2)),
    ],
)
def test_by_hand(name: str, expected: tuple[float, ...]) -> None:
    """Three jobs complete when the rule of the policy says."""
    sizes = [(0, 4, 1), (0, 3, 2), (1, 1, 1)]
    jobs = bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(sizes))
    assert simulate(jobs, getattr(policies, name), cluster=2).completion_times == expected
