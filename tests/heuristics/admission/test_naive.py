"""The rules agree with second versions of them on random instances."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest

from gsopt.core.method import Method
from gsopt.problems.admission import Admission
from heuristics.admission import kube_scheduler, kueue, kueue_fair, slurm, volcano, workload_aware
from tests.effort import cases
from tests.heuristics.admission import naive
from tests.heuristics.admission.drawn import draw

#: A rule with some options, and its second version with the same ones.
Pair = tuple[Method, Callable[..., set[str] | None]]

PAIRS: list[Pair] = [
    (kueue, naive.kueue),
    (kueue_fair, naive.kueue_fair),
    (workload_aware, naive.workload_aware),
    (slurm, naive.slurm),
    (partial(slurm, youngest_first=True), partial(naive.slurm, youngest=True)),
    (partial(slurm, strict_order=True, reorder_count=4), partial(naive.slurm, strict=True, count=4)),
    (partial(slurm, reorder_count=0), partial(naive.slurm, count=0)),
    (volcano, naive.volcano),
    (partial(volcano, max_domains=1), partial(naive.volcano, most=1)),
    (kube_scheduler, naive.kube_scheduler),
]


def _agree(pair: Pair, problem: Admission, **options: Any) -> bool:
    """Check that both versions evict the same gangs, or find no way; return whether they find one."""
    rule, second = pair
    found, expected = rule(problem, **options).solution, second(problem, **options)
    assert (None if found is None else set(found.evicted)) == expected
    return expected is not None


@pytest.mark.parametrize("pair", PAIRS)
def test_rules_agree_with_their_second_versions(pair: Pair) -> None:
    """Both versions evict the same gangs wherever somebody has to stop."""
    problems = (draw(Random(seed), plain=True) for seed in range(cases(500, least=167)))
    assert sum(_agree(pair, problem) for problem in problems if not naive.room(problem, [])) > cases(
        50, least=15
    )


@pytest.mark.parametrize("pair", [(kueue, naive.kueue), (kueue_fair, naive.kueue_fair)])
def test_they_agree_with_quotas(pair: Pair) -> None:
    """Both versions evict the same gangs with quotas below, at and above what the queues use."""
    stopped = 0
    for seed in range(cases(1000, least=334)):
        random = Random(seed)
        problem = draw(random, plain=True)
        options: dict[str, Any] = {"quotas": {queue: random.randint(0, 12) for queue in ("", "a")}}
        if pair[0] is kueue:
            options["borrow_below"] = random.choice([None, -1, 0, 1])
        else:
            options["weights"] = {"a": random.choice([0.5, 1, 2])}
        if not naive.room(problem, []):
            stopped += _agree(pair, problem, **options)
    assert stopped > cases(100, least=30)
