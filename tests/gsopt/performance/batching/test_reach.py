"""The most GPUs that jobs can use together."""

from collections.abc import Sequence
from itertools import product
from random import Random

from gsopt.performance.batching.reach import most_used
from tests.effort import cases


def test_is_the_most_of_all_choices() -> None:
    """On random menus, ranges and others, it is the largest total of any choice that fits."""
    random = Random(4)
    for _ in range(cases(400)):
        gpus = random.randint(0, 12)
        menus = [(_menu(random), random.random() < 0.3) for _ in range(random.randint(0, 4))]
        menus = [(menu, must and len(menu) > 0) for menu, must in menus]
        totals = {sum(each) for each in product(*((*([] if must else [0]), *menu) for menu, must in menus))}
        wanted = max((total for total in totals if total <= gpus), default=None)
        if wanted is not None:
            assert most_used(gpus, menus) == wanted, (gpus, menus)


def _menu(random: Random) -> Sequence[int]:
    first = random.randint(1, 4)
    if random.random() < 0.5:
        return range(first, first + random.randint(0, 6))
    return sorted(random.sample(range(1, 9), random.randint(0, 4)))
