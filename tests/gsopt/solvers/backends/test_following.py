"""What is told while CP-SAT runs, and how it ends."""

from typing import Any

from gsopt.solvers.backends import CpSat
from gsopt.solvers.backends.process import Frame, FrameKind
from tests.gsopt.solvers.backends import functions


def solve(most: int) -> tuple[Any, list[Frame]]:
    """Solve the little model in a worker; give its answer and what was heard."""
    frames: list[Frame] = []
    reply = CpSat().call(functions.larger, most, hear=frames.append)
    return reply.answer, frames


def test_the_best_and_the_bound_are_read() -> None:
    """The last incumbent is the answer, and every bound is in the reader's scale."""
    answer, frames = solve(10)
    incumbents = [told for kind, told in frames if kind is FrameKind.INCUMBENT]

    assert answer == ("OPTIMAL", 5, 0.5)
    assert incumbents[-1][0] == 5
    assert all(bound <= 0.5 for _, bound in incumbents)
    assert all(told <= 0.5 for kind, told in frames if kind is FrameKind.BOUND)


def test_lines_of_the_log_end() -> None:
    """CP-SAT gives its log line by line, without their ends."""
    text = "".join(told for kind, told in solve(10)[1] if kind is FrameKind.LOG)

    assert text.endswith("\n")
    assert len(text.splitlines()) > 10


def test_without_a_solution_nothing_is_proven() -> None:
    """Two numbers of at most 4 do not add up to 10: there is neither a solution nor a bound."""
    assert solve(4)[0] == ("INFEASIBLE", None, None)
