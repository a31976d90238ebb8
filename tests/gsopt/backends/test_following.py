"""What is told while CP-SAT runs, and how it ends."""

from typing import Any

import pytest
from ortools.sat.python.cp_model import CpModel

from gsopt.backends.following import solve_followed


class Told:
    """A link that keeps what it is told."""

    def __init__(self, stopped: bool = False) -> None:
        self.stopped = stopped
        self.incumbents: list[tuple[Any, float | None]] = []
        self.bounds: list[float] = []
        self.text = ""

    def incumbent(self, values: Any, bound: float | None) -> None:
        """Keep an incumbent."""
        self.incumbents.append((values, bound))

    def bound(self, bound: float) -> None:
        """Keep a bound."""
        self.bounds.append(bound)

    def log(self, text: str) -> None:
        """Keep a piece of the log."""
        self.text += text

    def on_stop(self, stop: Any) -> None:
        """Stop at once where that is wanted."""
        if self.stopped:
            stop()


def solve(most: int, told: Told, **parameters: Any) -> tuple[str, int | None, float | None]:
    """Minimise the larger of two numbers that add up to 10, at most so large, counted in tenths."""
    model = CpModel()
    numbers = [model.new_int_var(0, most, "") for _ in range(2)]
    model.add(sum(numbers) == 10)
    larger = model.new_int_var(0, 10, "")
    model.add_max_equality(larger, numbers)
    model.minimize(larger)
    given = {"num_workers": 1, "log_to_stdout": False, **parameters}
    return solve_followed(model, given, told, lambda value: int(value(larger)), lambda scaled: scaled / 10)  # type: ignore[arg-type]


def test_the_best_and_the_bound_are_read() -> None:
    """The last incumbent is the answer; its bound is in the reader's scale."""
    told = Told()

    assert solve(10, told) == ("OPTIMAL", 5, 0.5)
    assert told.incumbents[-1][0] == 5
    assert all(bound is not None and bound <= 0.5 for _, bound in told.incumbents)
    assert all(bound <= 0.5 for bound in told.bounds)


def test_lines_of_the_log_end() -> None:
    """CP-SAT gives its log line by line, without their ends."""
    told = Told()
    solve(10, told, log_search_progress=True)

    assert told.text.endswith("\n")
    assert len(told.text.splitlines()) > 10


@pytest.mark.parametrize("stopped", [False, True])
def test_without_a_solution_nothing_is_proven(stopped: bool) -> None:
    """Where two numbers of at most 4 have to add up to 10 there is neither a solution nor a bound."""
    status, found, bound = solve(4, Told(stopped))

    assert (found, bound) == (None, None)
    assert status in ({"INFEASIBLE", "UNKNOWN"} if stopped else {"INFEASIBLE"})
