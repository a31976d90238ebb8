"""Certificates of adaptive jobs prove no more than any schedule needs, and every error in one is refused."""

from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

import pytest

import gsopt
from gsopt.core.budget import UNLIMITED
from gsopt.core.errors import InvalidInput
from gsopt.core.files import read_data, to_json, write
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.schedule.bounds import division
from gsopt.schedule.bounds.prices import price_bound
from gsopt.schedule.certificate import Certificate
from gsopt.schedule.verify import ProofData
from gsopt.schedule.verify_adaptive import FITS, training_cost
from gsopt.schedule.verify_epochs import Training, trainings_of
from gsopt.simulation import replay
from heuristics.policies import equal_share, fifo, marginal, sia, srtf
from tests.effort import cases
from tests.gsopt.schedule.bounds.enumeration import Enumeration, following
from tests.gsopt.schedule.bounds.test_epochs import draw_job, draw_scenario
from tests.gsopt.schedule.bounds.tiny import draw_tiny, exact, machines_of, ways_of
from tests.gsopt.schedule.damage import damaged
from tests.gsopt.schedule.naive_training import Training as NaiveTraining
from tests.gsopt.simulation.monkeys import monkey
from tests.gsopt.simulation.scenarios import bundle
from tests.refusals import refusal

#: Where prices are free: no jobs of the data matter.
_EMPTY: dict[str, Any] = {"kind": "mean JCT by prices of GPU time", "jobs": 1, "digest": 64 * "0"}


def _priced(ticks: int, edges: list[int], unit: int, prices: list[int]) -> Certificate:
    return Certificate(**_EMPTY, ticks=ticks, edges=edges, unit=unit, prices=prices, total_jct="0")


def _best(scenario: Scenario, round_length: float, *, at_events: bool) -> Fraction:
    """Return the least sum of JCTs; where seconds are rounded, the simulator has the last word on halves."""
    found = Fraction(Enumeration(scenario, round_length, at_events=at_events).total)
    if scenario.agents.whole_seconds:
        policy = following(Enumeration(scenario, round_length))
        run = replay(scenario, policy, round_length=round_length)
        pairs = zip(run.completion_times, scenario.workload.jobs, strict=True)
        return max(found, sum((exact(end) - exact(job.release_date) for end, job in pairs), Fraction(0)))
    return found


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide epochs coarsely, so that a check takes milliseconds."""
    monkeypatch.setattr(division, "_PARTS", (1, 8))
    monkeypatch.setattr(division, "_PARTS_IN_PYTHON", (1, 8))
    monkeypatch.setattr(division, "_STEPS", 500)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("part", range(4))
def test_no_certificate_is_above_the_best_schedule(part: int) -> None:
    """Neither good nor random prices, parts and steps prove more than the best schedule of a few jobs takes."""
    for seed in range(part, cases(120), 4):
        random = Random(f"best {seed}")
        scenario, round_length = draw_tiny(random)
        length = random.choice([None, round_length])
        best = _best(scenario, round_length, at_events=length is None)
        known = gsopt.certify(scenario, round_length=length, evaluations=20)
        data = ProofData.of(scenario, length)
        assert gsopt.verify(known, scenario).total_jct <= best, seed
        for _ in range(5):
            update = {
                "prices": tuple(random.choice([0, price, 2 * price]) for price in known.prices),
                "parts": tuple(tuple(random.randint(1, 4) for _ in row) for row in known.parts),
                "steps": tuple(tuple(random.randint(1, 9) for _ in row) for row in known.steps),
            }
            for change in (*update, None):
                other = known.model_copy(update=update if change is None else {change: update[change]})
                with suppress(InvalidInput):  # steps that are too long
                    assert data.total(other, UNLIMITED) <= best, (seed, change)


def _draw_training(random: Random) -> Training:
    """Draw a few epochs, with speeds that rise with the GPUs, and a few starts."""
    epochs = []
    for _ in range(random.randint(1, 4)):
        seconds = random.randint(1, 40)
        ways = sorted(random.sample(range(1, 9), random.randint(1, 3)))
        epochs.append([(("", gpus), Fraction(seconds, 1 + place)) for place, gpus in enumerate(ways)])
    starts = sorted(Fraction(random.randint(0, 60), 2) for _ in range(random.randint(1, 3)))
    return Training(epochs, [(start, start) for start in starts])


def _random_run(random: Random, training: Training, start: Fraction, cells: Any) -> Fraction:
    """Return what a run costs that changes its GPUs at random, or holds none, from some time on the fastest."""
    now, cost, changes = start, Fraction(0), random.randint(0, 8)
    for ways in training.epochs:
        left = Fraction(1)
        while left:
            (_, gpus), seconds = random.choice([*ways, (("", 0), None)]) if changes > 0 else ways[-1]
            span = Fraction(random.randint(1, 40), 4) if changes > 0 else Fraction(10**6)
            span = span if seconds is None else min(span, left * Fraction(seconds))
            changes -= 1
            for begin, end, price in cells:
                cost += max(min(end, now + span) - max(begin, now), 0) * gpus * price
            left -= 0 if seconds is None else span / seconds
            now, cost = now + span, cost + span
    return cost


def _naive_phi(
    training: Training, known: Certificate, parts: Any, steps: Any
) -> tuple[dict[Fraction, Fraction], list[Fraction]]:
    """Return phi for all parts by time, in fractions, and the steps; check both conditions in each triangle."""
    edges = [Fraction(edge, known.ticks) for edge in known.edges]
    times = {*edges, *(min(Fraction(start), edges[-1]) for _, start in training.starts)}
    for (low, high), number in zip(pairwise(known.edges), steps, strict=True):
        times |= {Fraction(low + (high - low) * n // number, known.ticks) for n in range(number)}
    clock = sorted(times)
    rows = [
        [(gpus, Fraction(int(seconds * known.ticks) // number, known.ticks)) for (_, gpus), seconds in ways]
        for ways, number in zip(training.epochs, parts, strict=True)
        for _ in range(number)
    ][::-1]
    after = [Fraction(0)]
    for ways in rows:
        after.append(after[-1] + min(seconds for _, seconds in ways))
    found: dict[Fraction, Fraction] = {clock[-1]: after[-1]}
    for begin, end in reversed(list(pairwise(clock))):
        price = Fraction(known.prices[max(n for n, edge in enumerate(edges) if edge <= begin)], known.unit)
        length, now = end - begin, [Fraction(0)]
        for left, ways in enumerate(rows, start=1):
            stay = min([1 + k * price - (after[left] - after[left - 1]) / s for k, s in ways] + [Fraction(1)])
            slope = 1 + (after[left - 1] - now[left - 1]) / length
            now.append(
                min(after[left] + length * stay, now[-1] + min((slope + k * price) * s for k, s in ways))
            )
            for corner, at in ((after, left), (now, left - 1)):
                by_time, by_part = (after[at] - now[at]) / length, corner[left] - corner[left - 1]
                assert 1 + by_time >= 0
                assert all(1 + k * price + by_time - by_part / s >= 0 for k, s in ways)
        after = now
        found[begin] = now[-1]
    return found, [end - begin for begin, end in pairwise(clock)]


def test_the_cost_is_that_of_the_definition() -> None:
    """It is phi at the start, with fine prices and short steps nearly unrounded; no random run costs less."""
    compared = 0
    for seed in range(cases(600)):
        random = Random(f"phi {seed}")
        training, ticks, unit = _draw_training(random), random.choice([80, 840]), random.choice([2**12, 2**70])
        edges = sorted({0, *(ticks * random.randint(1, 60) for _ in range(random.randint(1, 4)))})
        prices = [int(unit * random.choice([0, 0.03125, 0.125, 0.5])) for _ in edges[1:]]
        known = _priced(ticks, edges, unit, prices)
        parts = [random.randint(1, 3) for _ in training.epochs]
        steps = [random.randint(1, 60) for _ in prices]
        phi, spans = _naive_phi(training, known, parts, steps)
        starts, found = [Fraction(start) for _, start in training.starts], 0
        with suppress(InvalidInput):
            found = training_cost(training, known, {"": known.prices}, parts, steps, UNLIMITED)
        if unit > FITS and max(spans) * max(parts) <= min(
            seconds for ways in training.epochs for _, seconds in ways
        ):
            total = sum((phi[min(start, Fraction(edges[-1], ticks))] for start in starts), Fraction(0))
            assert abs(total - Fraction(found, unit * ticks)) <= total * Fraction(1, 10**9), seed
            compared += 1
        begins = [Fraction(edge, ticks) for edge in edges]
        cells = [(*span, Fraction(price, unit)) for span, price in zip(pairwise(begins), prices, strict=True)]
        least = [min(_random_run(random, training, start, cells) for _ in range(20)) for start in starts]
        assert Fraction(found, unit * ticks) <= sum(least), seed
    assert compared >= cases(600) / 40


def test_the_least_seconds_are_those_of_the_data() -> None:
    """For any price, the ways of a training cost as much as the best of all ways, computed in fractions."""
    for seed in range(cases(400)):
        scenario, _ = draw_tiny(Random(seed), whole_seconds=False)
        job = scenario.workload.jobs[0]
        alone = scenario.model_copy(
            update={"workload": scenario.workload.model_copy(update={"jobs": (job,)}), "clock_start": None}
        )
        (training,) = trainings_of(alone, None)
        application = scenario.applications[job.model]
        naive = NaiveTraining(application, scenario.agents, job.batch_size or 1)
        ways = ways_of(job, application, scenario.agents, machines_of(scenario))
        epochs = [epoch for epoch in range(application.epochs) if naive.goal(epoch + 1) > naive.goal(epoch)]
        assert training.starts == [(0, exact(scenario.overhead(job).start))]
        for epoch, found in zip(epochs, training.epochs, strict=True):
            work = naive.goal(epoch + 1) - naive.goal(epoch)
            for price in (0, Fraction(1, 50), Fraction(1, 3), 2, 100):
                least = min((1 + price * way.gpus) * work / way.rates[epoch] for way in ways)
                cost = min((1 + price * gpus) * seconds for (_, gpus), seconds in found)
                assert least * (1 - Fraction(1, 10**7)) <= cost <= least, (seed, epoch)


@pytest.mark.parametrize("kind", ["exact", "free", "dear", "whole"])
def test_rounded_seconds_count_as_the_bounds_do(kind: str) -> None:
    """What an epoch saves by ending at whole seconds is what the library's own bounds subtract."""
    from gsopt.schedule.bounds.epochs import epoch_times

    for seed in range(cases(100)):
        random = Random(f"{kind} {seed}")
        paid = {"exact": 3.0, "free": 1.0, "dear": 2.5, "whole": 3.0}[kind]
        scenario = draw_scenario(
            random, overhead=Overhead(start=paid, resize=paid), agents=Agents(whole_seconds=kind != "exact")
        )
        (training,), times = trainings_of(scenario, 60.0), epoch_times(scenario, 60.0)["a"]
        for row, ways in zip(times.seconds, training.epochs, strict=True):
            for (_, gpus), seconds in ways:
                assert float(seconds) == pytest.approx(row[times.columns["", gpus]], rel=1e-7)
        assert training.starts == [(0, exact(paid) - int(times.advance))]


def _small(random: Random, *, types: bool = False, jobs: int = 24) -> Scenario:
    """Return adaptive jobs, and among them a few that are rigid."""
    drawn = draw_scenario(
        random,
        overhead=Overhead(start=3, resize=3),
        agents=Agents(whole_seconds=random.random() < 0.5),
        types=types,
    )
    own = [draw_job(random, str(number), 7.0 * number) for number in range(jobs)]
    rigid = [Job(name=f"r{n}", release_date=20.0 * n, duration=15, gpus=2) for n in range(jobs // 8)]
    return drawn.model_copy(update={"workload": bundle([*own, *rigid])})


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("types", [False, True], ids=["alike", "types"])
def test_it_proves_about_as_much_as_the_bound(types: bool) -> None:
    """Among adaptive and rigid jobs, in rounds and without, little is lost, and no policy is below."""
    for seed in range(cases(30)):
        random = Random(f"near {seed}")
        scenario = _small(random, types=types)
        length = random.choice([None, 10.0])
        known = gsopt.certify(scenario, round_length=length, evaluations=150)
        proof = gsopt.verify(known, scenario)
        found = price_bound(scenario, round_length=length, evaluations=150, compiled=True)
        assert proof.round_length == length
        assert 0.9 * found.mean_jct <= proof.mean_jct
        assert bool(known.type_prices) == types
        for policy in (sia, monkey) if types else (fifo, srtf, marginal, equal_share, sia):
            options: dict[str, Any] = {"seed": seed, "share_limit": 1} if policy is monkey else {}
            run = replay(scenario, policy, round_length=length, **options)
            if len(run.jct) == len(scenario.workload.jobs):
                assert proof.mean_jct <= run.metrics.mean_jct, run.metrics.policy


@pytest.mark.usefixtures("quick")
def test_dearer_types_prove_no_more_than_a_schedule_needs() -> None:
    """Whatever jobs pay for a type is subtracted for all GPUs of it, so higher surcharges prove less."""
    drawn = (_small(Random(f"dear {seed}"), types=True) for seed in range(99))
    priced = ((scenario, gsopt.certify(scenario, evaluations=60)) for scenario in drawn)
    scenario, known = next((scenario, known) for scenario, known in priced if any(known.prices))
    data = ProofData.of(scenario)
    totals = [Fraction(known.total_jct)]
    for more in (16, 256):
        dear = {
            name: [price + more * known.unit // 16 for price in row] for name, row in known.type_prices.items()
        }
        totals.append(data.total(known.model_copy(update={"type_prices": dear}), UNLIMITED))
    assert totals[2] < min(totals[:2]), [*map(float, totals)]
    assert totals[0] <= sum(map(exact, replay(scenario, sia).jct))


def test_in_rounds_more_is_proven() -> None:
    """Rigid jobs too start in rounds, after their overhead, and the proof says for which schedules it holds."""
    jobs = [Job(name=str(n), release_date=7 * n, duration=5 + n, gpus=1 + n % 2) for n in range(12)]
    scenario = Scenario.of(bundle(jobs), 2, overheads={"start": 3.0})
    always, rounds = (gsopt.certify(scenario, round_length=each, evaluations=40) for each in (None, 10))
    assert "on 2 GPUs that decides every 10 s has a mean JCT below" in str(gsopt.verify(rounds, scenario))
    run = replay(scenario, srtf, round_length=10)
    delays = [ceil(Fraction(7 * n, 10)) * 10 - 7 * n + 3 for n in range(12)]
    assert always.mean_jct + 3 <= rounds.mean_jct <= run.metrics.mean_jct
    assert ProofData.of(scenario, 10).delay == sum(delays)
    assert "digest" in refusal(gsopt.verify, rounds.model_copy(update={"round_length": None}), scenario)
    assert "digest" in refusal(gsopt.verify, always.model_copy(update={"round_length": 20.0}), scenario)
    assert "round_length: -1: must be" in refusal(gsopt.certify, scenario, round_length=-1)


@pytest.mark.usefixtures("quick")
def test_every_claim_about_adaptive_jobs_is_checked() -> None:
    """Other prices, parts, steps, types, rounds, speeds and restarts are refused, each for its reason."""
    scenario = _small(Random("claims"), types=True)
    known = gsopt.certify(scenario, round_length=10, cells=40, evaluations=60)
    cells = [0] * len(known.prices)
    faster = scenario.applications["cnn"].model_copy(update={"slowdown": 1.0625})
    for changes, given, rule in (
        ({"total_jct": str(Fraction(known.total_jct) + 1)}, {}, "certificate: total_jct: "),
        ({"prices": (*known.prices[:-1], known.prices[-1] + 9)}, {}, "certificate: total_jct: "),
        ({"type_prices": {"fast": cells}}, {}, "certificate: type_prices: 'fast': must be a GPU type"),
        ({"parts": ()}, {}, "certificate: parts: '[]': must be lists of these lengths"),
        ({"steps": known.steps[:-1]}, {}, "certificate: steps: "),
        ({"parts": tuple((10**6,) * len(row) for row in known.parts)}, {}, "certificate: parts: "),
        ({"round_length": 20.0}, {}, "certificate: digest: "),
        ({}, {"applications": {"cnn": faster}}, "certificate: digest: "),
        ({}, {"overheads": {"": Overhead(start=4, resize=3)}}, "certificate: digest: "),
        ({}, {"cluster": draw_scenario(Random(1), overhead=Overhead(), agents=Agents()).cluster}, "digest: "),
    ):
        assert rule in refusal(
            gsopt.verify, known.model_copy(update=changes), scenario.model_copy(update=given)
        )
    far = known.model_dump() | {"steps": [[10**6, 10**6, *row[2:]] for row in known.steps]}
    with pytest.raises(ValueError, match="must be at most 1,000,000"):
        Certificate(**far)


def _is_refused(path: Path, scenario: Scenario, total: Fraction) -> bool:
    """Check whether a certificate is refused; if not, it must prove the given total."""
    try:
        found = gsopt.verify(path, scenario).total_jct
    except InvalidInput:
        return True
    assert found == total
    return False


@pytest.mark.usefixtures("quick")
def test_damaged_adaptive_certificates_are_refused(tmp_path: Path) -> None:
    """Whatever is changed in a file, it is refused in one line, or proves exactly what it says."""
    random, path, scenario = Random("damage"), tmp_path / "a.json", _small(Random("few"), types=True, jobs=16)
    known = gsopt.certify(scenario, round_length=10, cells=40, evaluations=60)
    write(known, path)
    assert read_data(Certificate, path) == known
    assert known.prices
    assert known.type_prices
    text, total, refused = to_json(known), gsopt.verify(path, scenario).total_jct, 0
    for _ in range(cases(1000)):
        path.write_text(damaged(random, text), encoding="utf-8")
        line = refusal(gsopt.verify, path, scenario) if _is_refused(path, scenario, total) else ""
        refused += bool(line)
        assert not line or line.startswith(f"{path}: ")
        assert len(line) < 600
    assert refused >= 0.7 * cases(1000)
