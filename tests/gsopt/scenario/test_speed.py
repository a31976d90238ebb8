"""Speed is composed of menu, tier and worst partner, and curves are fitted to samples."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Tier
from gsopt.scenario.job import Job, Mode, Phase
from gsopt.scenario.speed import (
    TIER_PENALTIES,
    IterationTime,
    Speed,
    TierPenalty,
    efficient_counts,
    fit_iteration_time,
    linear_menu,
    tabulated_menu,
)


def _job(model: str, gpus: int = 2) -> Job:
    return Job(
        name=model, release_date=0, duration=1, gpus=gpus, model=model, menu=linear_menu(gpus, {1, gpus})
    )


_SPEED = Speed(
    tiers={"a": TierPenalty(machine=0.25, rack=0.5, network=3)},
    interference={"a": {"b": 1.5, "c": 2.0}},
    default_interference=1.25,
)


@pytest.mark.parametrize(
    ("count", "tier", "partners", "expected"),
    [
        (2, Tier.MACHINE, [], Fraction(4, 5)),
        (2, Tier.RACK, [], Fraction(2, 3)),
        (2, Tier.NETWORK, [], Fraction(1, 4)),
        (1, Tier.NETWORK, [], Fraction(1, 2)),  # one GPU does not communicate
        (2, Tier.RACK, ["b"], Fraction(4, 9)),
        (2, Tier.RACK, ["b", "c", "b"], Fraction(1, 3)),  # the worst partner rules
        (2, Tier.RACK, ["d"], Fraction(8, 15)),
    ],
)
def test_rate(count: int, tier: Tier, partners: list[str], expected: Fraction) -> None:
    """The rate is the menu's speed over both slowdowns, exactly in fractions."""
    others = [_job(partner) for partner in partners]
    assert _SPEED.rate(_job("a"), count, tier, others, Fraction) == expected
    assert _SPEED.rate(_job("a"), count, tier, others) == pytest.approx(float(expected), rel=1e-15)


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (None, Fraction(1)),
        ({"V100": 4}, Fraction(1)),  # as fast as the menu says
        ({"T4": 4}, Fraction(1, 3)),
        ({"K80": 4}, Fraction(1, 5)),
        ({"V100": 2, "T4": 2}, Fraction(8, 15)),  # (2 + 2/3) / 4 of the menu, and a quarter longer
        ({"V100": 3, "": 1}, Fraction(4, 5)),  # no type at all is a type of its own
        ({"V100": 1, "T4": 2, "K80": 1}, Fraction(28, 75)),
    ],
)
def test_types(types: dict[str, int] | None, expected: Fraction) -> None:
    """GPUs of several types do what they do one by one, and the mixture costs something on top."""
    speed, job = Speed(gpu_types={"T4": 3, "K80": 5}, mixed=1.25), _job("a", 4)
    assert speed.rate(job, 4, number=Fraction, types=types) == expected
    assert speed.rate(job, 4, types=types) == pytest.approx(float(expected), rel=1e-15)
    assert Speed().rate(job, 4, types=types) == 1


def test_parts_of_a_slowdown() -> None:
    """Waiting, partners and types slow down on top of each other, each by its share of the time."""
    two, one = _job("a"), _job("a", gpus=1)
    assert _SPEED.waiting(two, 2, Tier.NETWORK, Fraction) == Fraction(3, 4)
    assert 1 - _SPEED.waiting(two, 2, Tier.RACK, Fraction) == _SPEED.rate(two, 2, Tier.RACK, number=Fraction)
    assert _SPEED.waiting(one, 1, Tier.NETWORK) == _SPEED.waiting(_job("other"), 2, Tier.NETWORK) == 0
    speed = _SPEED.model_copy(update={"gpu_types": {"old": 2.0}, "mixed": 1.5})
    job, partners = _job("a"), [_job("b"), _job("c")]
    for types in (None, {"old": 2}, {"old": 1, "new": 1}):
        alone = speed.rate(job, 2, Tier.NETWORK)
        assert speed.slowdown(job, partners, types=types) == pytest.approx(
            alone / speed.rate(job, 2, Tier.NETWORK, partners, types=types)
        )
    typed = _SPEED.model_copy(update={"gpu_types": {"T4": 3.0}})
    rate = typed.rate(_job("a"), 2, Tier.RACK, [_job("b")], Fraction, types={"T4": 2})
    assert rate == Fraction(4, 27)
    assert typed.waiting(_job("a"), 2, Tier.RACK) == _SPEED.waiting(_job("a"), 2, Tier.RACK)


@pytest.mark.parametrize("fields", [{"mixed": 0.9}, {"gpu_types": {"T4": 0.5}}, {"gpu_types": {"": 2}}])
def test_bad_types(fields: dict[str, Any]) -> None:
    """No type and no mixture is faster than the menus say, so that bounds hold; a type has a name."""
    with pytest.raises(ValidationError):
        Speed.model_validate(fields)


def test_modes_and_phases_change_the_rate() -> None:
    """The menu is that of the mode, and the phase slows down on top of tier and partner, by mode."""
    job = _job("a").model_copy(update={"modes": (Mode(name="m", menu=((2, 0.5),)),)})
    phase = Phase(until=1, slowdown=2, modes={"m": 4})
    rates = [
        _SPEED.rate(job, 2, Tier.RACK, [_job("b")], Fraction, mode=mode, phase=each)
        for mode in ("", "m")
        for each in (None, phase)
    ]
    assert rates == [Fraction(4, 9), Fraction(2, 9), Fraction(2, 9), Fraction(1, 18)]
    with pytest.raises(KeyError):
        _SPEED.rate(job, 1, mode="m")


def test_penalties_by_level() -> None:
    """Wider levels never cost less; one without a penalty has that of the next wider one, also in JSON."""
    assert len(TIER_PENALTIES) == 6
    assert all(p.machine <= p.rack <= p.network for p in TIER_PENALTIES.values())
    levels = ("island", "machine", "row", "rack", "pod", "zone", "network", "world")
    penalty = TierPenalty(machine=1, rack=2, network=4, pod=3)
    assert [penalty.of(level, levels) for level in levels] == [1, 1, 2, 2, 3, 4, 4, 4]
    speed = Speed(tiers={"a": penalty})
    assert speed.rate(_job("a"), 2, "pod", [], Fraction, levels=levels) == Fraction(1, 4)
    assert speed.rate(_job("a"), 2, "zone", [], Fraction, levels=levels) == Fraction(1, 5)
    with pytest.raises(InvalidInput, match="tier: 'world': must be a tier with a penalty, or a level"):
        penalty.of("world", levels[:-1])
    penalty = TierPenalty(machine=0, rack=0.5, network=1, pod=0.75)
    assert TierPenalty.model_validate_json(penalty.model_dump_json()) == penalty
    assert penalty != TierPenalty(machine=0, rack=0.5, network=1)


@pytest.mark.parametrize("value", [-1, float("nan"), "1", None])
def test_penalties_of_further_levels_are_penalties(value: object) -> None:
    """A penalty of a further level obeys the same rule as the others."""
    with pytest.raises(ValidationError, match="pod"):
        TierPenalty.model_validate({"machine": 0, "rack": 0, "network": 0, "pod": value})


def test_menus_and_overlap() -> None:
    """Menus have speed 1 at the demand, and overlap lies between the sum and the longer part."""
    assert dict(tabulated_menu(4, {1: 10.0, 4: 30.0}))[4] == 1.0
    with pytest.raises(InvalidInput, match="demanded 2 GPUs"):
        tabulated_menu(2, {1: 1.0})
    for gpus in range(1, 40):
        menu = linear_menu(gpus, range(gpus, 100))
        job = Job(name="a", release_date=0, duration=1, gpus=gpus, menu=menu)
        assert efficient_counts(job, 1.0) == tuple(range(gpus, 100))
    times = [
        IterationTime(compute=0.3, per_sample=0, latency=0.4, overlap=overlap).seconds(8, message=1)
        for overlap in (1, 2, 8, 500)
    ]
    assert times == pytest.approx([0.7, 0.5, 0.4, 0.4], abs=6e-3)
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("overlap", [1.0, 1.7, 4.0])
def test_fit_finds_the_curve(overlap: float) -> None:
    """Samples of a curve, with 1 % of noise, are met to 3 % by the fitted one."""
    random = Random(1)
    truth = IterationTime(compute=0.05, per_sample=0.002, latency=0.02, per_byte=2e-10, overlap=overlap)
    samples = [
        (float(batch), message, truth.seconds(batch, message=message) * random.uniform(0.99, 1.01))
        for batch in (8, 16, 32, 64, 128)
        for message in (0.0, 1e8, 5e8, 1e9)
    ]
    fitted = fit_iteration_time(samples)
    assert all(abs(fitted.seconds(b, message=m) / t - 1) < 0.03 for b, m, t in samples)


def test_samples_without_a_batch_can_be_fitted() -> None:
    """Where every batch size is 0, the time is that of the other terms."""
    assert fit_iteration_time([(0, 0, 1.0)]).seconds(0) == pytest.approx(1)


@pytest.mark.parametrize(
    ("samples", "error"),
    [
        ([], r"samples: \[\]: must hold positive times"),
        ([(1.0, 0.0, 0.0)], r"samples\[0\]: seconds: 0.0: must be from 1e-09 to 1e\+12"),
        ([(1, 0, 1), (1, 0, -1)], r"samples\[1\]: seconds: -1: must be from 1e-09 to 1e\+12"),
        ([(1, 0, float("nan"))], r"samples\[0\]: seconds: nan: must be from 1e-09 to 1e\+12"),
        ([(1, 0, 1e300)], r"samples\[0\]: seconds: 1e\+300: must be from 1e-09 to 1e\+12"),
        ([(-1, 0, 1)], r"samples\[0\]: batch size: -1: must be from 0 to 1e\+18"),
        ([(1, float("inf"), 1)], r"samples\[0\]: message: inf: must be from 0 to 1e\+18"),
    ],
)
def test_fit_needs_samples_in_range(samples: list[tuple[float, float, float]], error: str) -> None:
    """Nothing can be fitted to no samples, and a number out of range is refused by one line."""
    with pytest.raises(InvalidInput, match=rf"^{error}$"):
        fit_iteration_time(samples)


@pytest.mark.parametrize("sample", [(0, 0, 1e-9), (1e18, 1e18, 1e12), (1e-9, 1e9, 1.0)])
def test_fit_takes_all_magnitudes(sample: tuple[float, float, float]) -> None:
    """A single sample at the ends of the ranges is fitted."""
    batch, message, seconds = sample
    assert fit_iteration_time([sample]).seconds(batch, message=message) == pytest.approx(seconds)


def test_menus_refuse_what_has_no_speed() -> None:
    """Throughputs of 0, no GPUs and iterations that take no time are refused by one line."""
    with pytest.raises(InvalidInput, match=r"^throughput\[2\]: 0.0: must be more than 0 and finite$"):
        tabulated_menu(2, {2: 0.0})
    with pytest.raises(InvalidInput, match=r"^throughput\[4\]: inf: must be more than 0 and finite$"):
        tabulated_menu(2, {2: 1.0, 4: float("inf")})
    with pytest.raises(InvalidInput, match=r"^throughput\[0\]: 0.0: must be more than 0 and finite$"):
        linear_menu(0, [0, 1])
    instant = IterationTime(compute=0, per_sample=0)
    with pytest.raises(InvalidInput, match=r"^seconds\[1\]: 0.0: must be more than 0 and finite$"):
        instant.menu(1, [2], batch_size=4, message=1)
    with pytest.raises(InvalidInput, match=r"^counts: 0: must be at least 1$"):
        instant.menu(1, [0, 2], batch_size=4, message=1)


@pytest.mark.parametrize(
    ("menu", "alpha", "expected"),
    [
        ((), 0.75, (2,)),  # rigid
        ([(1, 0.9), (2, 1.0), (4, 1.5), (8, 3.0)], 0.75, (2, 4, 8)),  # never below the demand; 0.75 is enough
        ([(2, 1.0), (4, 1.4), (8, 4.0)], 0.75, (2,)),  # the first failure ends it
        ([(2, 1.0), (6, 3.0), (3, 1.5)], 1, (2, 3, 6)),  # every count of the menu, in any order
        ([(2, 1.0), (4, 1.5), (8, 3.0)], Fraction(3, 4), (2, 4, 8)),
    ],
)
def test_efficient_counts(menu: list[tuple[int, float]], alpha: float, expected: tuple[int, ...]) -> None:
    """A job grows from its demand up to the first count whose GPUs do too little."""
    assert efficient_counts(Job(name="a", release_date=0, duration=1, gpus=2, menu=menu), alpha) == expected


@pytest.mark.parametrize("alpha", [0, -0.1, 1.1, float("nan"), "0.5", None])
def test_bad_thresholds(alpha: float) -> None:
    """A threshold is a number above 0 and at most 1."""
    with pytest.raises(InvalidInput, match=r"^alpha: .* must be a number above 0 and at most 1$"):
        efficient_counts(Job(name="a", release_date=0, duration=1, gpus=1), alpha)


def test_groups_slow_down_as_a_whole() -> None:
    """The slowdown of a group counts if it is more than that of the worst pair; a partner counts once."""
    jobs = [Job(name=name, release_date=0, duration=1, gpus=1, model=name[0]) for name in ("a", "b", "c", "b2")]
    a, b, c, b2 = jobs
    speed = Speed(
        interference={"a": {"b": 1.5, "c": 3.0}}, groups={"a": {"b": 1.25, "b + c": 2.0, "b + b": 2.5}}
    )
    assert speed.rate(a, 1, partners=[b]) == 1 / 1.5
    assert speed.rate(a, 1, partners=[b, c]) == 1 / 3
    assert speed.rate(a, 1, partners=[b2, b, b]) == 1 / 2.5
    assert speed.slowdown(a, [b, b2]) == 2.5
    assert speed.rate(b, 1, partners=[a, c]) == speed.rate(a, 1) == 1
