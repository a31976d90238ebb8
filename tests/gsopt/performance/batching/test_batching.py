"""The speed of jobs with elastic batches, and the division of GPUs among them."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import inf, isclose
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.compiled import plain
from gsopt.core.numbers.tolerances import SUM
from gsopt.performance.batching import BatchingJob, Progress, Rate, StepTime, Tabulated
from gsopt.performance.batching.kernel import fill_rows
from gsopt.performance.batching.rates import StepTimeTable
from gsopt.performance.batching.reach import most_used
from gsopt.performance.batching.split import least_costs, split, widest
from gsopt.performance.communication import Dimension, Wire, Wiring, flat_ring
from tests.effort import cases
from tests.strategies.batching import drawn_costs

# Jobs with elastic batches, and what is left of them


def job(**changes: Any) -> BatchingJob:
    """Return a job with a limit of 10 samples, of which 4 fit on a GPU."""
    fields: dict[str, Any] = {"name": "a", "batch_limit": 10, "local_limit": 4, "remaining": 60.5}
    return BatchingJob(**{"throughput": StepTime(fixed=1, per_sample=1), **fields, **changes})


def test_what_is_left_by_hand() -> None:
    """Mean and draws are those of the distribution, and a job that has processed nothing is refused."""
    believed = Progress(alpha=1.5, beta=3, processed=10)
    assert job().left() == Fraction(121, 2)
    known = job(remaining=None, progress=believed)
    assert (known.left("mean"), known.left("mean_progress")) == (60, 20)
    believed, random = Progress(alpha=6, beta=4, processed=100), Random(3)
    draws = [believed.draw(random) for _ in range(4000)]
    mean = sum(draws) / len(draws)
    spread = (sum((each - mean) ** 2 for each in draws) / len(draws)) ** 0.5
    assert abs(mean - float(believed.left())) < 4 * spread / len(draws) ** 0.5
    assert believed.draw(Random(5)) == believed.draw(Random(5))
    with pytest.raises(ValidationError, match="processed"):
        Progress(alpha=1, beta=1, processed=0)


def test_an_infinite_mean_is_no_estimate() -> None:
    """With alpha 1, the mean is rejected in one line, and the number at mean progress is still known."""
    first_epoch = Progress(alpha=1, beta=2, processed=3)
    with pytest.raises(InvalidInput, match=r"alpha: 1\.0: must be above 1"):
        first_epoch.left()
    assert first_epoch.left("mean_progress") == 6


def test_limits_and_files() -> None:
    """A batch is within both limits, changes reconfigure, and models and tables come back from JSON."""
    assert [job().largest(gpus) for gpus in (1, 2, 3, 4)] == [4, 8, 10, 10]
    assert job().allows(8, 2)
    assert not job().allows(9, 2)
    assert not job().allows(1, 2)
    assert [job().runs_on(gpus) for gpus in (0, 1, 10, 11)] == [False, True, True, False]
    assert (job().fastest(0), job().fastest(11)) == (None, None)
    waited, ran = job(), job(previous_gpus=2, previous_batch=8)
    assert (waited.changes(0, 0), waited.changes(4, 1)) == (False, True)
    assert [ran.changes(*kept) for kept in ((0, 0), (8, 2), (7, 2), (8, 3))] == [True, False, True, True]
    assert not job(previous_gpus=2).changes(7, 2)
    table = Tabulated(rates=[Rate(batch_size=4, gpus=1, samples_per_second=2.5)])
    for each in (job(), job(throughput=table)):
        assert BatchingJob.model_validate_json(each.model_dump_json(exclude_defaults=True)) == each
    with pytest.raises(ValidationError, match=r"throughput\.model\.fixed"):
        BatchingJob.model_validate_json('{"throughput": {"per_sample": 1}}')


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"remaining": None}, "remaining: None: must be given, or progress"),
        ({"remaining": 1e-10}, "remaining: 1e-10: must be 0, or at least 1e-09"),
        ({"progress": Progress(alpha=2, beta=2, processed=1)}, "must not be given together with progress"),
        ({"new": True, "previous_gpus": 1}, "previous_gpus: 1: must be 0 for a new job"),
        ({"previous_batch": 4}, "previous_batch: 4: must not be given for a job that waited"),
        ({"previous_batch": 1, "previous_gpus": 2}, "previous_batch: 1: must be at least the 2 GPUs"),
    ],
)
def test_bad_jobs_are_refused(changes: dict[str, Any], message: str) -> None:
    """Each rule across fields names field, value and rule."""
    with pytest.raises(ValidationError, match=message):
        job(**changes)


# Throughput by a model and by a table


RING = Wire(bandwidth=1e9, latency=1e-3, wiring=Wiring.RING)


def test_a_step_by_hand() -> None:
    """Communication is that of the ring: 2 (c - 1) / c M / w + 2 (c - 1) l, twice l by a switch."""
    model = StepTime(fixed=0.02, per_sample=0.001, message=1e8, wire=RING)
    assert model.seconds(130, 4) == Fraction(20 + 33 + 6 * 26, 1000)
    assert model.samples_per_second(130, 4) == Fraction(130_000, 209)
    assert model.seconds(130, 1) == Fraction(150, 1000)
    for gpus in range(2, 20):
        wanted = Fraction(2 * (gpus - 1), gpus) * Fraction(10**8, 10**9) + Fraction(2 * (gpus - 1), 1000)
        assert StepTime(fixed=1, per_sample=1, message=1e8, wire=RING).communication(gpus) == wanted
    switch = RING.model_copy(update={"wiring": Wiring.SWITCH})
    latency = StepTime(fixed=1, per_sample=1, message=0, wire=switch).communication(3)
    assert latency == Fraction(8, 1000)
    random = Random(1)
    for _ in range(100):
        wiring = random.choice(list(Wiring))
        wire = Wire(bandwidth=10 ** random.uniform(6, 12), latency=random.uniform(0, 1e-3), wiring=wiring)
        size, gpus = 10 ** random.uniform(0, 10), random.randint(1, 64)
        exact = StepTime(fixed=1, per_sample=0, message=size, wire=wire).communication(gpus)
        assert isclose(exact, flat_ring(size, Dimension(units=gpus, wire=wire)), rel_tol=1e-12)


def test_the_fastest_batch_is_fastest() -> None:
    """No other batch within the limit gives more samples per second, with or without a fixed part."""
    random, tried = Random(2), cases(300)
    smaller = 0
    for _ in range(tried):
        fixed = random.choice((0.0, 0.0, 1e-3, 1.0))
        model = StepTime(fixed=fixed, per_sample=random.choice((0.001, 0.1)), message=1e6, wire=RING)
        model = random.choice((model, model.on(None)))
        gpus, most = random.randint(1, 6), random.randint(1, 30)
        best = max(range(gpus, most + 1), key=lambda b: model.samples_per_second(b, gpus), default=None)
        found = model.fastest(gpus, most)
        assert (found is None) == (best is None) == (not model.offers(gpus, most))
        if found is not None and best is not None:
            assert model.samples_per_second(found, gpus) == model.samples_per_second(best, gpus)
            smaller += found < most
    assert smaller > tried / 20  # without a fixed part the remainder does not pay


def test_throughputs() -> None:
    """Throughput grows with equal local batches, tables interpolate nothing, and every GPU needs a sample."""
    model = StepTime(fixed=0.01, per_sample=0.001, message=1e7, wire=RING)
    rising = [model.samples_per_second(local * 3, 3) for local in range(1, 40)]
    assert rising == sorted(set(rising))
    rates = [(32, 1, 100.0), (64, 1, 150.0), (96, 1, 150.0), (128, 1, 90.0), (64, 2, 180.0)]
    table = Tabulated(rates=[Rate(batch_size=b, gpus=c, samples_per_second=x) for b, c, x in rates])
    assert table.samples_per_second(64, 2) == 180
    assert (table.knows(64, 2), table.knows(32, 2), table.knows(64, 3)) == (True, False, False)
    assert (table.fastest(1, 1000), table.fastest(1, 95), table.fastest(1, 31)) == (96, 64, None)
    assert (table.offers(1, 32), table.offers(1, 31), table.offers(3, 99)) == (True, False, False)
    with pytest.raises(InvalidInput, match="batch_size: 32 samples on 2 GPUs: must be one of the measured"):
        table.samples_per_second(32, 2)
    model = StepTime(fixed=1, per_sample=1)
    with pytest.raises(InvalidInput, match="batch_size: 3: must be at least the 4 GPUs"):
        model.seconds(3, 4)
    with pytest.raises(InvalidInput, match="gpus: 0: must be at least 1"):
        model.seconds(3, 0)
    assert (model.knows(3, 4), model.knows(3, 0), model.knows(4, 4)) == (False, False, True)


def test_bad_throughput_is_refused() -> None:
    """A step takes time, a pair is measured once, and has a sample on each GPU."""
    with pytest.raises(ValidationError, match=r"per_sample: 0\.0: must be at least 1e-09"):
        StepTime(fixed=0, per_sample=0)
    for bandwidth in (1e-320, 0.9):
        with pytest.raises(ValidationError, match=r"wire\.bandwidth: .* must carry the 1e"):
            StepTime(fixed=1, per_sample=1, message=1e9, wire=Wire(bandwidth=bandwidth))
    rate = Rate(batch_size=4, gpus=2, samples_per_second=1)
    with pytest.raises(ValidationError, match=r"rates\[1\]: '4 samples on 2 GPUs': must be given once"):
        Tabulated(rates=[rate, rate])
    with pytest.raises(ValidationError, match=r"rates\[0\].batch_size: 1: must be at least the 2 GPUs"):
        Tabulated(rates=[Rate(batch_size=1, gpus=2, samples_per_second=1)])


# Throughput of many jobs at once


def test_arrays_are_the_models() -> None:
    """For random jobs, limits and numbers of GPUs the throughput is that of the model's fastest batch."""
    random = Random(1)
    models = [_model(random) for _ in range(60)]
    limit = [random.choice((1, 5, 30, 200)) for _ in models]
    local = [random.choice((1, 4, 7, 64)) for _ in models]
    batch, rate = StepTimeTable.of(models).fastest(limit, local, widest=9)
    assert batch.shape == rate.shape == (60, 10)
    for place, model in enumerate(models):
        for gpus in range(1, 10):
            best = model.fastest(gpus, min(limit[place], gpus * local[place]))
            if best is None:
                assert (batch[place, gpus], rate[place, gpus]) == (0, 0)
                continue
            wanted = float(model.samples_per_second(best, gpus))
            assert np.isclose(rate[place, gpus], wanted, rtol=SUM, atol=0)
            own = float(model.samples_per_second(int(batch[place, gpus]), gpus))
            assert np.isclose(own, wanted, rtol=SUM, atol=0)


def test_no_gpus_are_no_throughput() -> None:
    """The first column is 0, and without jobs there is no row."""
    batch, rate = StepTimeTable.of([_model(Random(2))]).fastest([8], [8], widest=0)
    assert (batch.tolist(), rate.tolist()) == ([[0]], [[0.0]])
    assert StepTimeTable.of([]).fastest([], [], widest=3)[0].shape == (0, 4)


def _model(random: Random) -> StepTime:
    wire = Wire(
        bandwidth=10 ** random.uniform(8, 11),
        latency=random.choice((0.0, 1e-5, 1e-3)),
        wiring=random.choice(list(Wiring)),
    )
    return StepTime(
        fixed=random.choice((0.0, 1e-3, 0.1)),
        per_sample=random.choice((1e-4, 1e-3, 0.01)),
        message=random.choice((0.0, 1e8)),
        wire=random.choice((None, wire)),
    )


# The most GPUs that jobs can use together


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


# The cheapest division of GPUs


Floats = NDArray[np.float64]


def totals(costs: Floats, gpus: int) -> dict[int, float]:
    """Return the least total by GPUs used, by trying every division."""
    found: dict[int, float] = {}
    for counts in product(range(costs.shape[1]), repeat=len(costs)):
        used, total = sum(counts), sum(costs[job, count] for job, count in enumerate(counts))
        if used <= gpus and total < found.get(used, inf):
            found[used] = float(total)
    return found


def test_is_the_least_of_all_divisions() -> None:
    """On random costs the division has the least total that any has, by all GPUs or by any number."""
    random, solved = np.random.default_rng(1), 0
    for _ in range(cases(1500)):
        costs, gpus = drawn_costs(random)
        best = totals(costs, gpus)
        for use_all in (True, False):
            if not best:
                with pytest.raises(InvalidInput, match="must be jobs that can all run"):
                    split(costs, gpus, use_all=use_all)
                continue
            counts = split(costs, gpus, use_all=use_all)
            total = sum(costs[job, count] for job, count in enumerate(counts))
            wanted = best[max(best)] if use_all else min(best.values())
            assert np.isclose(total, wanted, rtol=SUM, atol=SUM)
            assert not use_all or counts.sum() == max(best)
            solved += 1
    assert solved > cases(1500)


def test_divisions() -> None:
    """Wide menus are divided by the formula, who must run does, and tables of other shapes are refused."""
    count = np.arange(301)
    costs = np.vstack([(count - 40.0) ** 2, (count - 190.0) ** 2])
    assert split(costs, 250).tolist() == [50, 200]
    assert split(costs, 250, use_all=False).tolist() == [40, 190]
    costs = np.array([[0.0, 9.0], [0.0, 1.0]])
    assert split(costs, 1).tolist() == [0, 1]
    assert split(costs, 1, must=[True, False]).tolist() == [1, 0]
    assert costs[0, 0] == 0
    with pytest.raises(InvalidInput, match="must be jobs that can all run on 1 GPUs"):
        split(costs, 1, must=[True, True])
    with pytest.raises(InvalidInput, match="costs: \\(2,\\): must have a row for each job"):
        split([1.0, 2.0], 1)
    with pytest.raises(InvalidInput, match="must: \\(1,\\): must have the shape \\(2,\\)"):
        split([[0.0], [0.0]], 1, must=[True])
    assert split([], 3).tolist() == []
    assert widest(np.array([[0, inf, 1, inf], [inf] * 4, [0, inf, inf, inf]])).tolist() == [2, 0, 0]


# The compiled rows of a division


def test_the_kernel_fills_the_same_rows() -> None:
    """Compiled, as plain Python and in numpy the table of least costs is the same, to the last bit."""
    random = np.random.default_rng(2)
    for _ in range(cases(200)):
        costs, gpus = drawn_costs(random)
        if not len(costs):
            continue
        table = least_costs(costs, gpus, compiled=False)
        assert np.array_equal(least_costs(costs, gpus, compiled=True), table)
        again = np.full_like(table, inf)
        again[0, 0] = 0
        plain(fill_rows)(costs, widest(costs), again)
        assert np.array_equal(again, table)
        for fill in (fill_rows, plain(fill_rows)):  # continued from any row
            parts = np.full_like(table, inf)
            parts[0, 0] = 0
            for job in range(len(costs)):
                fill(costs[job : job + 1], widest(costs[job : job + 1]), parts[job : job + 2])
            assert np.array_equal(parts, table)


def test_menus_with_gaps_have_the_same_rows() -> None:
    """A few allowed numbers of GPUs among many yield the table of least costs that the kernel fills."""
    random = np.random.default_rng(5)
    for _ in range(cases(100)):
        costs = np.full((3, 30), inf)
        for job in range(3):
            allowed = random.choice(30, size=random.integers(1, 6), replace=False)
            costs[job, allowed] = random.integers(-3, 6, allowed.size)
        gpus = int(random.integers(0, 60))
        table = least_costs(costs, gpus, compiled=False)
        assert np.array_equal(least_costs(costs, gpus, compiled=True), table)
        for used in range(gpus + 1):  # the last job, by hand
            totals = [table[2, used - count] + costs[2, count] for count in range(min(used, 29) + 1)]
            assert table[3, used] == min(totals)
