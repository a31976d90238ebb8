"""Many instances are computed anew by several processes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.evaluation.catalogue import names
from gsopt.evaluation.tables import text_of
from gsopt.solvers.backends.process import Pool
from gsopt.studies.suites import Outcome, Verdict, Verification, verification, verify
from gsopt.studies.suites.known import Known
from gsopt.studies.suites.verification import call
from instances import load

FEW = names("reclaiming/small/")[:6]


def found(name: str, outcome: Outcome, note: str = "") -> Verdict:
    """Return a verdict that nobody computed."""
    return Verdict(name, outcome, note, Known.of(load(name)))


def test_every_instance_has_a_verdict() -> None:
    """Two processes settle all instances, each is told once, and the rows are in order."""
    told: list[str] = []

    done = verify(*FEW, time_limit="30s", workers=2, on_verdict=lambda each: told.append(each.instance))

    assert [each.instance for each in done] == FEW
    assert sorted(told) == sorted(FEW)
    assert {each.outcome for each in done} == {Outcome.CONFIRMED}
    assert done.missing == 0
    json.dumps(done.records())


def test_interrupt_keeps_what_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C the verdicts so far are there, the rest is counted, and no process is left."""
    pools: list[Pool] = []

    class Watched(Pool):
        def __init__(self) -> None:
            super().__init__()
            pools.append(self)

    def interrupt(_: Verdict) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(verification, "Pool", Watched)
    done = verify(*FEW, time_limit=30, workers=1, on_verdict=interrupt)

    assert len(done) == 1
    assert done.missing == len(FEW) - 1
    assert pools[0].pids == []


@pytest.mark.parametrize("error", [MemoryError("too large"), Unsupported("too large")])
def test_a_method_that_fails_is_a_verdict(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """An instance on which the method fails has a verdict like any other."""

    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(verification, "examine", fail)
    failed = call((FEW[0], 1.0), None)

    assert (failed.outcome, failed.note) == (Outcome.FAILED, f"{type(error).__name__}: too large")
    assert failed.outcome.is_wrong


def test_a_process_that_dies_is_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash settles its instance as failed, and the others go on."""

    class Dying:
        def call(self, function: Any, task: tuple[str, float], **options: Any) -> Any:
            from gsopt.solvers.backends.process import Reply

            del options
            return Reply(None, None, "died") if task[0] == FEW[0] else Reply(function(task, None))

    class Thin(Pool):
        @contextmanager
        def borrow(self, *_: Any, **__: Any) -> Iterator[Any]:
            yield Dying()

    monkeypatch.setattr(verification, "Pool", Thin)
    done = verify(*FEW[:2], time_limit=30, workers=2)

    assert [each.outcome for each in done] == [Outcome.FAILED, Outcome.CONFIRMED]
    assert done[0].note == "died"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": -1.0}, "time_limit: -1.0: must be a number of seconds"),
        ({"time_limit": None}, "time_limit: None: must be given"),
        ({"workers": 0}, "workers: 0: must be at least 1"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    """Nothing is computed with an option that makes no sense."""
    with pytest.raises(InvalidInput, match=message):
        verify(*FEW, **options)


def test_the_table_counts_outcomes_and_names_what_is_not_confirmed() -> None:
    """A suite has its outcomes counted; each note stands in a line of its own."""
    done = Verification(
        (
            found(FEW[0], Outcome.CONFIRMED),
            found(FEW[1], Outcome.IMPROVED, "bound 1 -> 2"),
            found(FEW[2], Outcome.CONTRADICTED, "no [bold]"),
        ),
        4,
    )
    shown = text_of(done.table())

    assert ["reclaiming/small", "3", "1", "1", "1"] in [line.split() for line in shown.splitlines()]
    assert f"{FEW[1]}: improved: bound 1 -> 2" in shown.splitlines()
    assert f"{FEW[2]}: contradicted: no [bold]" in shown.splitlines()
