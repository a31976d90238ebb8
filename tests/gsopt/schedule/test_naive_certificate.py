"""Certificates prove what a second checker, written from the documentation, finds in fractions."""

from fractions import Fraction
from random import Random
from typing import Any

import gsopt
from gsopt.core.budget import UNLIMITED
from gsopt.core.errors import InvalidInput
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule.certificate import Certificate
from gsopt.schedule.verify import ProofData
from gsopt.schedule.verify_epochs import trainings_of
from tests.effort import cases
from tests.gsopt.schedule.bounds.tiny import draw_tiny
from tests.gsopt.schedule.naive_certificate import NaiveCertificate


def _draw(random: Random) -> tuple[Scenario, float | None]:
    """Draw tiny adaptive jobs, some on GPUs that go and come back, and a round length."""
    scenario, length = draw_tiny(random)
    first, gpus = scenario.workload.jobs[0].release_date, scenario.cluster.gpus
    if random.random() < 0.3:
        fewer = CapacityChange(time=first + random.choice([0, 1, 0.5]), gpus=random.randint(0, gpus))
        more = CapacityChange(time=fewer.time + random.choice([1, 2.5]), gpus=gpus)
        scenario = scenario.model_copy(update={"capacity_changes": (fewer, more)})
    return scenario, random.choice([None, length])


def _certificate(random: Random, scenario: Scenario, length: float | None) -> Certificate | None:
    """Draw a certificate that claims what it proves; None if its parts or steps are too few or too many."""
    data, trainings = ProofData.of(scenario, length), trainings_of(scenario, length)
    ticks = data.ticks * random.choice([2**10, 2**20, 10**9])
    spans = [min(float(s) for _, s in ways) for each in trainings for ways in each.epochs]
    most = int((max(float(first) for each in trainings for _, first in each.starts) + 2 * sum(spans)) * ticks)
    edges = sorted({0, *(random.randint(1, most + 1) for _ in range(random.randint(0, 4)))})
    unit = random.choice([2**10, 2**30, 10**6, 2**70])
    fields: dict[str, Any] = {
        "edges": edges,
        "prices": [int(unit * random.choice([0, 0.125, 0.5, random.random(), 2])) for _ in edges[1:]],
        "parts": [[random.randint(1, 4) for _ in each.epochs] for each in trainings],
        "steps": [[random.randint(1, 12) for _ in edges[1:]] for _ in trainings],
    }
    free = Certificate(
        kind="mean JCT by prices of GPU time",
        jobs=len(scenario.workload.jobs),
        digest=data.digest(),
        ticks=ticks,
        unit=unit,
        total_jct="0",
        round_length=length,
        **fields,
    )
    try:
        return free.model_copy(update={"total_jct": str(data.total(free, UNLIMITED))})
    except InvalidInput as error:
        if error.field not in ("parts", "steps"):
            raise
        return None


def _is_proven(scenario: Scenario, known: Certificate) -> bool:
    """Check whether a claim is what the second checker finds, but for a few roundings per job."""
    found = NaiveCertificate(scenario, known)
    return 0 <= found.total() - Fraction(known.total_jct) < 3 * (known.jobs + 1) * found.grain


def test_a_second_checker_finds_the_same_total() -> None:
    """For random prices, whole certificates of adaptive jobs prove what the definitions say, and no more."""
    compared = 0
    for seed in range(cases(1000)):
        random = Random(f"second {seed}")
        scenario, length = _draw(random)
        if known := _certificate(random, scenario, length):
            assert gsopt.verify(known, scenario).total_jct == Fraction(known.total_jct)
            assert _is_proven(scenario, known), seed
            compared += 1
    assert compared >= cases(1000) / 2


def _changed(random: Random, known: Certificate, field: str) -> dict[str, Any]:
    """Return the fields of a certificate with another number in one of them."""
    fields = known.model_dump(mode="json")
    if field == "total_jct":
        return fields | {
            field: str(
                Fraction(known.total_jct) + random.choice([Fraction(1, 10**12), Fraction(1), Fraction(-1)])
            )
        }
    if field in ("unit", "ticks"):
        return fields | {field: fields[field] * random.choice([2, 3])}
    row = random.choice(fields[field]) if field in ("parts", "steps") else fields[field]
    if row:
        row[random.randrange(len(row))] += random.choice([1, 2, 10**6])
    return fields


def test_what_is_no_longer_proven_is_refused() -> None:
    """A changed price, edge, part, step, unit or value is refused, unless the certificate still proves it."""
    refused = 0
    for seed in range(cases(300)):
        random = Random(f"changed {seed}")
        scenario, length = _draw(random)
        known = _certificate(random, scenario, length)
        for field in ("edges", "prices", "parts", "steps", "unit", "ticks", "total_jct") if known else ():
            assert known
            try:
                other = Certificate(**_changed(random, known, field))
                gsopt.verify(other, scenario)
            except (InvalidInput, ValueError):
                refused += 1
                continue
            assert _is_proven(scenario, other), (seed, field)
    assert refused >= cases(300)
