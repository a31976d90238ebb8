"""The rules agree with second versions of them on random instances."""

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from gsopt.core.method import Method
from gsopt.problems.admission import Admission
from heuristics.admission import kube_scheduler, kueue, slurm, volcano, workload_aware
from tests.heuristics.admission import naive
from tests.heuristics.admission.drawn import draw

_QUOTAS = {"": 5, "a": 9}

PAIRS: list[tuple[Method, Callable[[Admission], set[str] | None]]] = [
    (kueue, naive.kueue),
    (partial(kueue, quotas=_QUOTAS), partial(naive.kueue, quotas=_QUOTAS)),
    (
        partial(kueue, quotas=_QUOTAS, borrow_below=0),
        partial(naive.kueue, quotas=_QUOTAS, borrow_below=0),
    ),
    (workload_aware, naive.workload_aware),
    (slurm, naive.slurm),
    (partial(slurm, youngest_first=True), partial(naive.slurm, youngest=True)),
    (partial(slurm, strict_order=True, reorder_count=4), partial(naive.slurm, strict=True, count=4)),
    (partial(slurm, reorder_count=0), partial(naive.slurm, count=0)),
    (volcano, naive.volcano),
    (partial(volcano, max_domains=1), partial(naive.volcano, most=1)),
    (kube_scheduler, naive.kube_scheduler),
]


@pytest.mark.parametrize(("rule", "second"), PAIRS)
def test_rules_agree_with_their_second_versions(
    rule: Method, second: Callable[[Admission], set[str] | None]
) -> None:
    """Both versions evict the same gangs, or find no way."""
    stopped = 0
    for seed in range(600):
        problem = draw(Random(seed), plain=True)
        if naive.room(problem, []):
            continue
        found = rule(problem).solution
        expected = second(problem)
        assert (None if found is None else set(found.evicted)) == expected, seed
        stopped += expected is not None
    assert stopped > 60
