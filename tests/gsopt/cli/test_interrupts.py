"""Ctrl-C that a method catches."""

import signal
from typing import Any

import pytest

from gsopt.cli.instances import compare_instances
from gsopt.cli.interrupts import noticed
from gsopt.core.method import heuristic
from gsopt.evaluation import catalogue
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from tests.gsopt.problems.test_reclaiming import figure_5


def test_what_a_method_catches_still_ends_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that catches Ctrl-C and returns as if nothing were is the last one, and its row is kept."""

    @heuristic
    def deaf(problem: Reclaiming) -> ReclaimingSolution:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return ReclaimingSolution(servers=tuple(server.name for server in problem.servers[: problem.demand]))

    def found(_: str, name: Any) -> Any:
        return deaf if name == "deaf" else name

    monkeypatch.setattr(catalogue, "find_method", found)
    monkeypatch.setattr("gsopt.evaluation.compare.find_method", found)
    comparison = compare_instances([figure_5(2), figure_5(1)], ["deaf"], None, 0)
    assert (len(comparison), comparison.interrupted) == (1, True)


def test_the_handler_is_put_back() -> None:
    """Outside, Ctrl-C does what it did before."""
    before = signal.getsignal(signal.SIGINT)
    with noticed() as interrupt:
        assert not interrupt.is_set()
    assert signal.getsignal(signal.SIGINT) is before
