"""Random windows for the tests of windows, and what brute force finds of them."""

from collections.abc import Iterator
from itertools import product
from random import Random

import numpy as np

from heuristics.policies.shockwave.window import Plan, Window, WindowClaim

LENGTH = 60.0

#: Prices for which the one term of the worth, both, or the other one decide.
PRICES = (0.0, 1e-9, 1e-4, 1e-2, 1e5)


def drawn(random: Random, *, most_jobs: int = 3, most_rounds: int = 3) -> Window:
    """Draw a window of few jobs and rounds, in which gains and remaining times are sometimes equal."""
    rounds, gpus = random.randint(1, most_rounds), random.randint(1, 5)
    claims = []
    for _ in range(random.randint(1, most_jobs)):
        gains = [random.choice([0.0, 0.25, 0.5, 1.0, random.random()]) for _ in range(rounds)]
        claims.append(
            WindowClaim(
                gpus=random.randint(1, gpus),
                gains=tuple(sorted(gains, reverse=True)),
                left=random.choice([30.0, 60.0, 150.0, random.uniform(1, 300)]),
                least=random.choice([0, 0, 0, 1, 2]),
                weight=random.choice([1.0, 1.0, 3.0, random.uniform(1, 1000)]),
            )
        )
    return Window(
        gpus=gpus,
        rounds=rounds,
        length=LENGTH,
        claims=claims,
        price=random.choice([*PRICES, random.uniform(0, 0.02)]),
    )


def plans(window: Window) -> Iterator[Plan]:
    """Yield all plans of a window that take no more GPUs than there are."""
    shape = len(window.claims), window.rounds
    for cells in product((False, True), repeat=shape[0] * shape[1]):
        plan = [cells[job * shape[1] : (job + 1) * shape[1]] for job in range(shape[0])]
        loads = [
            sum(c.gpus for c, row in zip(window.claims, plan, strict=True) if row[t]) for t in range(shape[1])
        ]
        if max(loads) <= window.gpus:
            yield np.array(plan)


def value(window: Window, plan: Plan) -> float | None:
    """Return what a plan is worth, by its definition; None where a job gets too little."""
    worth, longest = 0.0, 0.0
    for claim, row in zip(window.claims, plan.tolist(), strict=True):
        if sum(row) < claim.least:
            return None
        worth += sum(claim.gains[: sum(row)])
        longest = max(longest, claim.left - LENGTH * sum(row))
    return worth - window.price * longest


def lateness(window: Window, plan: Plan) -> float:
    """Return the weighted sum of the mean places of rounds, by its definition."""
    total = 0.0
    for claim, row in zip(window.claims, plan.tolist(), strict=True):
        places = [place for place, runs in enumerate(row) if runs]
        total += claim.weight * sum(places) / len(places) if places else 0.0
    return total
