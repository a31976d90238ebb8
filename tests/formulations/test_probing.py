"""Probing: what is ruled out, and that nothing else is."""

from itertools import product

import numpy as np
import pytest

from formulations.probing import Choice, probe
from gsopt.budget import Budget
from gsopt.standard_form import StandardForm

PLACES, JOBS = 5, 3


def assignment(seed: int) -> tuple[StandardForm, list[Choice]]:
    """Give a program in which three jobs choose one of five places each, of limited room, and their levels."""
    random = np.random.default_rng(seed)
    columns = JOBS * PLACES + JOBS
    rows, lower, upper = [], [], []
    for job in range(JOBS):
        one, level = np.zeros(columns), np.zeros(columns)
        one[job * PLACES : (job + 1) * PLACES] = 1.0
        level[job * PLACES : (job + 1) * PLACES] = np.arange(PLACES)
        level[JOBS * PLACES + job] = -1.0
        rows += [one, level]
        lower += [1.0, 0.0]
        upper += [1.0, 0.0]
    for place in range(PLACES):
        room = np.zeros(columns)
        room[[job * PLACES + place for job in range(JOBS)]] = random.integers(1, 4, JOBS)
        rows.append(room)
        lower.append(-np.inf)
        upper.append(4.0)
    form = StandardForm.build(
        cost=[*random.integers(0, 20, JOBS * PLACES), *random.integers(0, 5, JOBS)],
        matrix=np.array(rows),
        row_lower=lower,
        row_upper=upper,
        column_upper=[*[1.0] * (JOBS * PLACES), *[float(PLACES)] * JOBS],
    )
    ranks = np.arange(PLACES, dtype=np.int32)
    choices = [
        Choice(np.arange(job * PLACES, (job + 1) * PLACES, dtype=np.int32), ranks, JOBS * PLACES + job)
        for job in range(JOBS)
    ]
    return form, choices


def solutions(form: StandardForm) -> list[tuple[float, tuple[int, ...]]]:
    """Enumerate the values and places of all solutions, the best first."""
    found = []
    for places in product(range(PLACES), repeat=JOBS):
        point = np.zeros(form.cost.size)
        for job, place in enumerate(places):
            point[job * PLACES + place] = 1.0
            point[JOBS * PLACES + job] = place
        if form.violation(point) == 0:
            found.append((form.objective(point), places))
    return sorted(found)


@pytest.mark.parametrize("slack", [0.0, 3.0])
def test_nothing_within_the_cutoff_is_ruled_out(slack: float) -> None:
    """Every solution up to the cutoff keeps its places and its orders, and much else is ruled out."""
    cut = ordered = 0
    for seed in range(40):
        form, choices = assignment(seed)
        every = solutions(form)
        if not every:
            continue
        cutoff = every[0][0] + slack
        pairs = [(0, 1), (0, 2), (1, 2)]
        finding = probe(form, Budget(), choices=choices, largest=form.column_upper, cutoff=cutoff, pairs=pairs)
        assert finding is not None
        assert finding.bound <= every[0][0] + 1e-6
        for value, places in every:
            if value <= cutoff:
                assert all(low <= at < high for at, (low, high) in zip(places, finding.kept, strict=True))
                assert all(places[first] <= places[second] for first, second in finding.orders)
        cut += sum(PLACES - (high - low) for low, high in finding.kept)
        ordered += len(finding.orders)
    assert cut >= 40
    assert ordered >= 2


def test_without_time_there_is_nothing_to_tell_or_little() -> None:
    """A budget that has passed gives None, or a finding that rules nothing out wrongly."""
    form, choices = assignment(1)
    finding = probe(
        form, Budget(time_limit=0.0), choices=choices, largest=form.column_upper, cutoff=solutions(form)[0][0]
    )
    if finding is not None:
        best = solutions(form)[0][1]
        assert all(low <= at < high for at, (low, high) in zip(best, finding.kept, strict=True))
