"""Certificates with surcharges prove what a second checker, written from the documentation, finds."""

from dataclasses import replace
from fractions import Fraction
from math import lcm
from random import Random
from typing import Any

import pytest

import gsopt
from gsopt.core.budget import UNLIMITED
from gsopt.core.errors import InvalidInput, TimeUp
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule import verify_gangs
from gsopt.schedule.bounds.certify import certificate_of
from gsopt.schedule.bounds.prices import PriceBound, gangs, price_bound
from gsopt.schedule.bounds.prices.ascent import Surcharge as SurchargeRow
from gsopt.schedule.certificate import Certificate, Surcharge
from gsopt.schedule.verify import ProofData
from gsopt.schedule.verify_gangs import line
from tests.effort import cases
from tests.gsopt.schedule.naive_gangs import cheapest_plan, proven_total, rigid_jobs
from tests.unwrap import unwrap


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try few surcharges, which is enough for few jobs."""
    monkeypatch.setattr(gangs, "_EVALUATIONS", 100)


def _times(random: Random) -> tuple[float, float]:
    """Draw a release date and a duration, of one of several magnitudes."""
    return random.choice(
        [
            (random.randint(0, 8), random.randint(1, 9)),
            (round(random.uniform(0, 5), 3), round(random.uniform(0.1, 9), 4)),
            (0, float(f"{10 ** random.uniform(-6, 6):.3g}")),
            (random.choice([0, 1e6]), random.randint(1, 3)),
        ]
    )


def _scenario(random: Random, most: int = 8) -> Scenario:
    """Draw a few rigid jobs on few GPUs, some alike, some on an epoch clock."""
    gpus, origin = random.randint(2, 8), random.choice([0, 0.3, 1.7e9])
    rows = [
        (*_times(random), random.choice([gpus, random.randint(1, gpus)]))
        for _ in range(random.randint(2, most))
    ]
    rows = sorted(row if random.random() < 0.8 else rows[0] for row in rows)
    jobs = [
        Job(name=str(place), release_date=origin + release, duration=duration, gpus=size)
        for place, (release, duration, size) in enumerate(rows)
    ]
    return Scenario.of(Workload(jobs=jobs), gpus)


def _with_changes(random: Random, scenario: Scenario) -> Scenario:
    """Return a scenario some of whose GPUs leave and return."""
    first, gpus = scenario.workload.jobs[0].release_date, scenario.cluster.gpus
    fewer = CapacityChange(time=first + random.choice([0, 1, 0.5]), gpus=random.randint(0, gpus))
    more = CapacityChange(time=fewer.time + random.choice([1, 2.5]), gpus=gpus)
    return scenario.model_copy(update={"capacity_changes": (fewer, more)})


def _certificate(random: Random, scenario: Scenario) -> Certificate:
    """Draw prices and surcharges, some of which overlap, and state what they prove."""
    data = ProofData.of(scenario)
    ticks = data.ticks * random.choice([1, 2, 7])
    times = [int(ticks * time) for release, duration, _ in data.jobs for time in (release, release + duration)]
    edges = sorted(
        {0, 1 + max(times), *(random.choice([1 + random.randrange(max(times)), *times]) for _ in range(6))}
    )
    cells, unit = len(edges) - 1, random.choice([1, 3, 10**6, 2**33])
    dearest = max(1, round(unit * random.choice([0.2, 1, 3])))
    surcharges: list[dict[str, Any]] = []
    for _ in range(random.randint(1, 4)):
        begin = random.randrange(cells)
        jobs = sorted(random.sample(range(len(data.jobs)), random.randint(1, len(data.jobs))))
        prices = [random.randint(1, dearest) for _ in jobs]
        surcharges.append(
            {"begin": begin, "end": random.randint(begin + 1, cells), "jobs": jobs, "prices": prices}
        )
    fields: dict[str, Any] = {
        "kind": "mean JCT by prices of GPU time",
        "jobs": len(data.jobs),
        "digest": data.digest(),
        "ticks": ticks,
        "edges": edges,
        "unit": unit,
        "prices": sorted((random.randint(0, dearest) for _ in range(cells)), reverse=True),
        "surcharges": sorted(surcharges, key=lambda each: each["begin"]),
    }
    total = data.total(Certificate(**fields, total_jct="0"), UNLIMITED)
    return Certificate(**fields, total_jct=str(total))


def test_a_second_checker_finds_the_same_total() -> None:
    """Random prices and surcharges, also on GPUs that leave and return, prove exactly the same total."""
    for seed in range(cases(4000)):
        random = Random(f"second {seed}")
        scenario = _scenario(random)
        scenario = scenario if seed % 3 else _with_changes(random, scenario)
        known = _certificate(random, scenario)

        assert Fraction(known.total_jct) == proven_total(known, scenario), seed


def test_a_packing_looks_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check whose time runs out between two jobs of the same surcharges ends there."""
    scenario = Scenario.of(Workload(jobs=[Job(name=n, release_date=0, duration=4, gpus=2) for n in "abc"]), 3)
    known = gsopt.certify(scenario, evaluations=40, gangs=1)
    assert any(len(each.jobs) == 3 for each in known.surcharges)
    times = iter(range(3))

    def is_late(_: object) -> None:
        if next(times) == 2:
            raise TimeUp("late")

    monkeypatch.setattr(verify_gangs, "refuse_late", is_late)
    one = known.model_copy(
        update={"surcharges": [each for each in known.surcharges if len(each.jobs) == 3][:1]}
    )
    with pytest.raises(TimeUp, match="late"):
        ProofData.of(scenario).total(one, UNLIMITED)


def test_it_finds_the_total_of_issued_certificates() -> None:
    """Certificates with surcharges around one or two gangs prove exactly what they state."""
    found = 0
    for seed in range(cases(100)):
        random = Random(f"issued {seed}")
        scenario = _scenario(random)
        known = gsopt.certify(scenario, evaluations=40, cells=40, gangs=random.choice([1, 2]))
        found += bool(known.surcharges)

        assert Fraction(known.total_jct) == proven_total(known, scenario), seed
    assert found >= cases(100) / 4


def _places(data: ProofData) -> dict[int, int]:
    """Return the place of each job in the sorted order of their lines."""
    order = sorted(range(len(data.jobs)), key=lambda job: line(data.jobs[job]))
    return {job: place for place, job in enumerate(order)}


def _unrounded(found: PriceBound, scenario: Scenario) -> Certificate:
    """Return a certificate with exactly the prices and surcharges of a bound."""
    data = ProofData.of(scenario)
    places = _places(data)
    times = [Fraction(time) for time in found.times]
    prices = [Fraction(price) for price in found.prices]
    rows = [
        sorted((places[job], Fraction(price)) for job, price in each.prices.items())
        for each in found.surcharges
    ]
    ticks = lcm(data.ticks, *(time.denominator for time in times))
    unit = lcm(*(price.denominator for price in [*prices, *(price for row in rows for _, price in row)]))
    surcharges = [
        Surcharge(
            begin=each.begin,
            end=each.end,
            jobs=[place for place, _ in row],
            prices=[int(price * unit) for _, price in row],
        )
        for each, row in zip(found.surcharges, rows, strict=True)
    ]
    return Certificate(
        kind="mean JCT by prices of GPU time",
        jobs=len(places),
        digest=data.digest(),
        ticks=ticks,
        edges=[int(time * ticks) for time in times],
        unit=unit,
        prices=[int(price * unit) for price in prices],
        total_jct="0",
        surcharges=surcharges,
    )


def _is_slope(slope: float, place: int, known: Certificate, scenario: Scenario) -> bool:
    """Check how much more a job costs with a little more work, or less with a little less."""
    release, duration, gpus = rigid_jobs(scenario, known.ticks)[place]
    little = known.ticks // 2**20
    less, same, more = (
        cheapest_plan((release, duration + change, gpus), place, known) for change in (-little, 0, little)
    )
    slopes = [float(Fraction(high - low, little * known.unit)) for low, high in ((less, same), (same, more))]
    return min(slopes) - 1e-6 <= slope <= max(slopes) + 1e-6


def test_bounds_are_no_more_than_their_prices_prove() -> None:
    """A bound in floats is slightly below what its prices and surcharges prove in fractions."""
    found, slopes = 0, list[bool]()
    for seed in range(cases(200)):
        random = Random(f"floats {seed}")
        jobs = [
            Job(
                name=str(n),
                release_date=date / 10,
                duration=random.choice([1, 2.1, 3.7]),
                gpus=random.randint(1, 4),
            )
            for n, date in enumerate([*range(random.randint(3, 6)), 99])
        ]
        scenario = Scenario.of(Workload(jobs=jobs), 5)
        bound = price_bound(
            scenario, evaluations=random.choice([20, 40]), cells=40, gangs=random.choice([1, 2])
        )
        known = _unrounded(bound, scenario)
        proven = proven_total(known, scenario)
        found += bool(bound.surcharges)

        assert bound.total_jct <= proven, seed
        assert bound.total_jct == pytest.approx(float(proven), rel=1e-9), seed
        for job, place in _places(ProofData.of(scenario)).items():
            slopes.append(_is_slope(bound.slopes[job], place, known, scenario))
    assert found >= cases(200) / 4
    assert sum(slopes) >= 0.9 * len(slopes)  # there are others if a plan ends exactly where a cell does


def test_surcharges_that_vanish_are_left_out() -> None:
    """Surcharges in cells shorter than a tick, or below the unit of prices, are not in a certificate."""
    scenario = Scenario.of(Workload(jobs=[Job(name=n, release_date=0, duration=4, gpus=2) for n in "ab"]), 3)
    bound = replace(
        price_bound(scenario, evaluations=10),
        times=(0.0, 1e-15, 10.0),
        prices=(0.25, 0.25),
        surcharges=(
            SurchargeRow(0, 1, {0: 0.5}),
            SurchargeRow(1, 2, {0: 1e-30, 1: 0.5}),
            SurchargeRow(1, 2, {0: 1e-30}),
        ),
    )
    known = certificate_of(bound, ProofData.of(scenario))

    assert [each.jobs for each in known.surcharges] == [(1,)]
    assert Fraction(known.total_jct) == proven_total(known, scenario)


def test_no_prices_prove_more_than_the_optimum() -> None:
    """Whatever the prices and surcharges, the total is at most that of a proven optimal schedule."""
    for seed in range(cases(40)):
        random = Random(f"optimum {seed}")
        scenario = _scenario(random, most=4)
        jobs = [
            ElasticJob(name=job.name, release=job.release_date, work=job.duration, rates={job.gpus: 1.0})
            for job in scenario.workload.jobs
        ]
        result = gsopt.solve(Scheduling(gpus=scenario.cluster.gpus, jobs=jobs), time_limit=20)
        best = float(unwrap(result.objective)) * len(jobs) * (1 + 1e-9)

        for _ in range(30):
            assert Fraction(_certificate(random, scenario).total_jct) <= best, seed
        for number in (0, 2):
            known = gsopt.certify(scenario, evaluations=100, cells=40, gangs=number)
            assert Fraction(known.total_jct) <= best, seed


def _damage(random: Random, fields: dict[str, Any]) -> None:
    """Change one thing in a certificate: a surcharge, its job or cell, a price, an edge or the total."""
    each = random.choice(fields["surcharges"])
    place = random.randrange(len(each["jobs"]))
    match random.randrange(9):
        case 0:
            fields["total_jct"] = str(Fraction(fields["total_jct"]) + Fraction(1, 10 ** random.randint(0, 12)))
        case 1:
            each["prices"][place] = max(each["prices"][place] + random.choice([-1, 1, 10**6]), 0)
        case 2:
            each["jobs"][place] += random.choice([-1, 1, 7])
        case 3:
            each[random.choice(["begin", "end"])] += random.choice([-1, 1, 100])
        case 4:
            each["jobs"], each["prices"] = (
                numbers + numbers[-1:] for numbers in (each["jobs"], each["prices"])
            )
        case 5:
            fields["surcharges"].remove(each)
        case 6:
            fields["surcharges"].append(dict(each))
        case 7:
            fields[random.choice(["unit", "ticks"])] *= 2
        case 8:
            numbers = fields[random.choice(["prices", "edges"])]
            numbers[random.randrange(len(numbers))] += random.choice([-1, 1])


def test_damaged_surcharges_prove_nothing_more() -> None:
    """A certificate that was changed is refused, unless its prices still prove what it states."""
    refused = 0
    for seed in range(cases(4000)):
        random = Random(f"damaged {seed}")
        scenario = _scenario(random)
        fields = _certificate(random, scenario).model_dump(mode="json")
        _damage(random, fields)
        try:
            other = Certificate(**fields)
            gsopt.verify(other, scenario)
        except (InvalidInput, ValueError):
            refused += 1
            continue
        assert Fraction(other.total_jct) == proven_total(other, scenario), seed
    assert refused >= cases(4000) / 2
