"""Jobs, workloads and trainings check what they are given."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.scenario.training import Training
from tests.effort import cases

# Jobs and workloads check what they are given


_FINE: dict[str, Any] = {"name": "a", "release_date": 0, "duration": 1, "gpus": 2}
_FINE_TRAINING: dict[str, Any] = {
    "epoch": 1000,
    "samples": 8000.0,
    "initial_loss": 2.5,
    "loss": 0.5,
    "accuracy": 0.9,
}
_FINE_PARTS: dict[Any, dict[str, Any]] = {
    Mode: {"name": "m", "menu": ((1, 0.5),)},
    Phase: {"until": 0.5},
    Training: _FINE_TRAINING,
}
_HALVES = Mode(name="halves", menu=[(1, 0.4), (2, 0.9)], memory=6, steps=2)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": ""}, "name"),
        ({"release_date": -1}, "release_date"),
        ({"release_date": float("nan")}, "release_date"),
        ({"duration": 0}, "duration"),
        ({"duration": float("inf")}, "duration"),
        ({"gpus": 0}, "gpus"),
        ({"gpus": 1.5}, "gpus"),
        ({"gpus": "2"}, "gpus"),
        ({"memory": -1}, "memory"),
        ({"batch_size": 0}, "batch_size"),
        ({"menu": ((1, 0.5),)}, "must hold the demanded 2 GPUs at speed 1"),
        ({"menu": ((2, 0.9),)}, "must hold the demanded 2 GPUs at speed 1"),
        ({"menu": ((2, 1.0), (2, 1.0))}, "must differ"),
        ({"menu": ((2, 1.0), (4, 0.0))}, "menu"),
        ({"menu": ((2, 1.0), (0, 1.0))}, "menu"),
        ({"extra": 1}, "extra"),
        ({"modes": (_HALVES, _HALVES)}, r"modes\[1\].name: 'halves': must differ"),
        ({"phases": (Phase(until=0.5),)}, r"phases\[0\].until: 0.5: must be 1"),
        ({"phases": (Phase(until=0.5), Phase(until=0.5), Phase(until=1))}, r"phases\[1\].until: 0.5: must"),
        ({"release_date": 5, "deadline": 5}, r"deadline: 5.0: must be later than 5, the release"),
        ({"phases": (Phase(until=1, modes={"halves": 2}),)}, r"phases\[0\].modes: 'halves': must be a mode"),
        ({"modes": (_HALVES, Mode(name="b", menu=[(1, 1.0)], samples=5))}, r"modes\[1\].samples: 5.0: must"),
    ],
)
def test_bad_jobs(change: dict[str, Any], reason: str) -> None:
    """A job that breaks a rule is refused, and the message says which."""
    with pytest.raises(ValidationError, match=reason):
        Job(**{**_FINE, **change})


def test_samples_by_mode() -> None:
    """Without a menu there is one count; a mode has its own samples or those of the training, if any."""
    job = Job(**_FINE)
    assert (job.counts, job.speed(2), job.gpu_seconds) == ((2,), 1.0, 2.0)
    with pytest.raises(KeyError):
        job.speed(1)
    large = Mode(name="large", menu=[(2, 1.5)], batch_size=64, samples=30)
    job = Job(**{**_FINE, "duration": 4}, modes=(_HALVES, large), training=Training(epoch=10, samples=20))
    assert [job.samples_in(mode) for mode in ("", "halves", "large")] == [20, 20, 30]
    assert [job.throughput(2), job.throughput(1, "halves"), job.throughput(2, "large")] == [5, 2, 11.25]
    with pytest.raises(KeyError):
        job.samples_in("none")
    job = Job(**_FINE, modes=(_HALVES,))
    assert [job.samples_in(), job.samples_in("halves"), job.throughput(2, "halves")] == [0, 0, 0]


@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        (Mode, {"name": ""}, "name"),
        (Mode, {"menu": ()}, "menu"),
        (Mode, {"menu": ((1, 0.5), (1, 0.6))}, r"menu\[1\]\[0\]: 1: must differ"),
        (Mode, {"menu": ((1, 0.0),)}, "menu"),
        (Mode, {"memory": -1}, "memory"),
        (Mode, {"batch_size": 0}, "batch_size"),
        (Mode, {"steps": 0}, "steps"),
        (Mode, {"tunes": True, "batch_size": 64}, "must be None in a mode that tunes it"),
        (Phase, {"until": 0.0}, "until"),
        (Phase, {"until": 1.1}, "until"),
        (Phase, {"slowdown": 0.9}, "slowdown"),
        (Phase, {"modes": {"": 0.5}}, "modes"),
        (Phase, {"slowdown": float("inf")}, "slowdown"),
        (Training, {"epoch": 0}, "epoch"),
        (Training, {"epoch": 1.5}, "epoch"),
        (Training, {"samples": 0}, "samples"),
        (Training, {"samples": float("inf")}, "samples"),
        (Training, {"initial_loss": 0}, "initial_loss"),
        (Training, {"loss": -1}, "loss"),
        (Training, {"loss": 3}, r"loss: 3.0: must be at most the initial loss, 2.5"),
        (Training, {"accuracy": 0}, "accuracy"),
        (Training, {"accuracy": 1.1}, "accuracy"),
        (Training, {"curvature": -1}, "curvature"),
    ],
)
def test_bad_parts_of_jobs(kind: type[Mode | Phase | Training], change: dict[str, Any], reason: str) -> None:
    """A mode has a name and a menu, a phase is a share and never faster, and a training ends at its target."""
    with pytest.raises(ValidationError, match=reason):
        kind(**{**_FINE_PARTS[kind], **change})


def test_modes_have_menus_and_memory_of_their_own() -> None:
    """Speeds are those of the mode; its memory is that of the job where it has none of its own."""
    job = Job(**_FINE, memory=10, modes=(_HALVES, Mode(name="large", menu=[(4, 2.5)])))
    assert job.counts == (2,)
    assert job.speeds == {"": {2: 1.0}, "halves": {1: 0.4, 2: 0.9}, "large": {4: 2.5}}
    assert [job.memory_in(mode) for mode in ("", "halves", "large")] == [10, 6, 10]
    assert (job.speed(2), job.speed(2, "halves")) == (1.0, 0.9)
    for count, mode in [(2, "large"), (4, ""), (2, "none")]:
        with pytest.raises(KeyError):
            job.speed(count, mode)
    with pytest.raises(KeyError):
        job.memory_in("none")
    assert job == Job(**_FINE, memory=10, modes=job.modes)  # whatever has been looked up
    assert job.model_copy(update={"modes": ()}).speeds == {"": {2: 1.0}}


def test_modes_have_batch_sizes() -> None:
    """A mode has its own batch size or that of the job, or none when the job tunes it."""
    modes = [
        _HALVES,
        Mode(name="large", menu=[(2, 1.0)], batch_size=64),
        Mode(name="tuned", menu=[(2, 1.0)], tunes=True),
    ]
    job = Job(**_FINE, batch_size=32, modes=modes)
    names = ("", "halves", "large", "tuned")
    assert [job.batch_in(mode) for mode in names] == [32, 32, 64, None]
    assert [job.tunes_in(mode) for mode in names] == [False, False, False, True]


def test_phases_and_names() -> None:
    """A mode without a slowdown has that of the phase; names tell jobs and modes apart."""
    phase = Phase(until=1, slowdown=2, modes={"": 1.5, "halves": 3})
    assert [phase.slowdown_in(mode) for mode in ("", "halves", "large")] == [1.5, 3, 2]
    with pytest.raises(ValidationError, match="must differ"):
        Workload(jobs=(Job(**_FINE), Job(**_FINE)))


def test_json_there_and_back() -> None:
    """A workload survives its JSON."""
    phases = (Phase(until=1, slowdown=2, modes={"halves": 3}),)
    job = Job(**_FINE, menu=((1, 0.5), (2, 1.0)), model="m", modes=(_HALVES,), phases=phases)
    workload = Workload(name="w", jobs=(job,))
    assert Workload.model_validate_json(workload.model_dump_json()) == workload


# Training: samples until a target, and curves that end there


@settings(max_examples=cases(200))
@given(curvature=st.floats(0, 100), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_curves_go_one_way_from_end_to_end(curvature: float, shares: tuple[float, float]) -> None:
    """The loss falls from its initial value to that at the target, and the accuracy rises from 0 to its own."""
    training = Training(**_FINE_TRAINING, curvature=curvature)
    early, late = sorted(shares)
    assert training.loss_at(0) == pytest.approx(2.5)
    assert training.loss_at(1) == 0.5
    assert training.loss_at(early) >= training.loss_at(late) - 1e-12
    assert training.accuracy_at(0) == pytest.approx(0, abs=1e-12)
    assert training.accuracy_at(1) == 0.9
    assert training.accuracy_at(early) <= training.accuracy_at(late) + 1e-12


def test_accuracy() -> None:
    """Accuracy rises earlier with more curvature; epochs are samples over those of the data set."""
    halfway = [
        Training(**_FINE_TRAINING, curvature=each).accuracy_at(Fraction(1, 2)) for each in (0, 1e-9, 1, 5)
    ]
    assert halfway[:2] == pytest.approx([0.45, 0.45])
    assert halfway[1] < halfway[2] < halfway[3]
    seen = Training(**_FINE_TRAINING, curvature=0).observe(Fraction(500), Fraction(1, 4))
    assert (seen.samples, seen.epochs) == (500, Fraction(1, 2))
    assert (seen.loss, seen.accuracy) == pytest.approx((2.0, 0.225))
