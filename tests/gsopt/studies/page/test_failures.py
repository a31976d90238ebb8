"""Cells without figures on a page."""

from gsopt.studies import State
from gsopt.studies.page.failures import failures, unsupported
from tests.gsopt.studies.samples import found, row


def test_every_failure_has_its_line() -> None:
    """A failed cell is there with its seed and its message; one that is done or not handled is not."""
    rows = [
        row({}, "greedy", seed=1, error="InvalidInput", message="demand: -1: must be at least 0"),
        row({}, "exact", state=State.UNSUPPORTED, message="no"),
        row({"objective": 1}, "exact"),
    ]
    lines = [[entry.text for entry in line] for line in failures(found(*rows)).lines]
    assert lines == [["suite/1", "greedy", "1", "demand: -1: must be at least 0"]]


def test_what_is_not_handled_is_counted() -> None:
    """Cells that a method does not handle for the same reason are one line."""
    rows = [
        row({}, method, instance=str(place), state=State.UNSUPPORTED, message=why)
        for place, (method, why) in enumerate([("a", "x"), ("a", "x"), ("a", "y"), ("b", "x")])
    ]
    lines = [[entry.text for entry in line] for line in unsupported(found(*rows)).lines]
    assert lines == [["a", "x", "2"], ["a", "y", "1"], ["b", "x", "1"]]
