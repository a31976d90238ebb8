"""Ways: the best mode on every number of GPUs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.scenario.job import Job, Mode
from gsopt.simulation.parts.ways import largest_batch, local_limit, ways_of
from tests.effort import cases

_SMALL = Mode(name="small", menu=[(1, 0.5), (2, 0.6)], batch_size=8)
_LARGE = Mode(name="large", menu=[(2, 1.8), (3, 2.5)], batch_size=64, memory=12)
_JOB = Job(
    name="a", release_date=0, duration=9, gpus=1, batch_size=32, memory=4, menu=[(1, 1), (2, 1.5)],
    modes=[_SMALL, _LARGE],
)  # fmt: skip


@pytest.mark.parametrize(
    ("limit", "memory", "speeds", "batches", "cap"),
    [
        (None, None, [0, 1, 1.8, 2.5], (0, 32, 64, 64), 2),  # all batch sizes
        (64, 12, [0, 1, 1.8, 2.5], (0, 32, 64, 64), 2),
        (63, None, [0, 1, 1.5], (0, 32, 32), 1),  # not the largest
        (None, 11, [0, 1, 1.5], (0, 32, 32), 1),  # which needs more memory
        (8, None, [0, 0.5, 0.6], (0, 8, 8), 1),
        (1, None, [0, 0.5, 0.6], (0, 8, 8), 1),  # the smallest is always allowed
    ],
)
def test_by_hand(
    limit: int | None, memory: int | None, speeds: list[float], batches: tuple[int, ...], cap: int
) -> None:
    """The fastest mode within limit and memory is taken, and the cap is the least that its batch needs."""
    found = ways_of(_JOB, limit, memory)
    assert (found.speeds.tolist(), found.batches, found.cap) == (speeds, batches, cap)


def test_jobs_without_batch_sizes() -> None:
    """Any limit allows them, and they are capped where they are fastest."""
    job = Job(name="a", release_date=0, duration=9, gpus=2, menu=[(2, 1), (4, 1.5), (6, 1.5), (8, 1.2)])
    found = ways_of(job, 1)
    assert found.speeds.tolist() == [0, 0, 1, 0, 1.5, 0, 1.5, 0, 1.2]
    assert (found.cap, set(found.batches), local_limit(job), largest_batch(job)) == (4, {0}, None, None)


def test_modes_for_other_types_are_no_way() -> None:
    """Of GPUs of one type only the modes that run on it are taken; of any when the type does not matter."""
    fast = Mode(name="fast", menu=[(1, 4.0)], gpu_type="new")
    job = Job(name="a", release_date=0, duration=9, gpus=1, gpu_type="old", modes=[fast])
    assert [ways_of(job, gpu_type=kind).speeds[1] for kind in (None, "old", "new")] == [4, 1, 4]


def test_the_cap_is_the_least_of_all_modes_with_the_largest_batch() -> None:
    """Where two modes have the largest batch, the one on fewer GPUs says how many it needs."""
    modes = [
        Mode(name=name, menu=[(count, 2.0)], batch_size=64, steps=steps)
        for name, count, steps in [("many", 4, 1), ("few", 2, 2)]
    ]
    job = Job(name="a", release_date=0, duration=9, gpus=1, batch_size=8, modes=modes)
    assert ways_of(job).cap == 2


def test_local_and_largest_batches() -> None:
    """One GPU takes a batch that some mode runs on a single one; the largest is that of all modes."""
    assert (local_limit(_JOB), largest_batch(_JOB)) == (32, 64)


@settings(max_examples=cases(100))
@given(
    menus=st.lists(
        st.dictionaries(st.integers(1, 6), st.sampled_from([0.5, 1.0, 2.0]), min_size=1), min_size=1, max_size=4
    ),
    limit=st.integers(1, 50),
)
def test_nothing_allowed_is_faster(menus: list[dict[int, float]], limit: int) -> None:
    """On every number of GPUs the speed is the largest of the modes within the limit, and that of the mode."""
    modes = [
        Mode(name=str(size), menu=sorted(menu.items()), batch_size=size)
        for size, menu in enumerate(menus, start=10)
    ]
    job = Job(name="a", release_date=0, duration=1, gpus=1, batch_size=9, modes=modes)
    found = ways_of(job, limit)
    within = [mode for mode in modes if (mode.batch_size or 0) <= limit]
    for count, speed in enumerate(found.speeds):
        able = [job.speeds[mode.name].get(count, 0.0) for mode in within] + [float(count == 1)]
        assert speed == max(able)
        if speed:
            assert job.speeds[found.modes[count]][count] == speed
