"""Worst case: the instance of a space on which a method is farthest from the optimum, with both solutions."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gsopt.core.budget import Budget
from gsopt.core.method import MethodLike, accepts, run
from gsopt.core.problem import Problem
from gsopt.core.result import Result, Status, plain, settles
from gsopt.evaluation import catalogue
from gsopt.evaluation.ratio import Worst
from gsopt.evaluation.space import Pick, Space

#: Time limit of the second proof, in seconds.
_SECOND_PROOF = 60.0


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The instance of a space on which a method is farthest from the optimum.

    Attributes
    ----------
    name
        Name of the method with its options.
    method
        The method.
    space
        The space.
    found
        The findings of the search.
    complete
        Whether every instance of the space was tried.
    interrupted
        Whether Ctrl-C ended the search.
    """

    name: str
    method: MethodLike
    space: Space
    found: Worst
    complete: bool
    interrupted: bool = False

    @property
    def proven(self) -> bool:
        """Whether it is proven that no instance of the space has a larger ratio than `problem`."""
        return self.complete and not (self.found.unproven or self.found.unsolved or self.found.unbounded)

    @cached_property
    def problem(self) -> Problem[Any] | None:
        """The instance with the largest `gsopt.evaluation.ratio.ratio`, or None if no instance has a ratio."""
        return self._made(self.found.pick)

    @cached_property
    def unbounded(self) -> Problem[Any] | None:
        """The first instance on which only one of value and optimum is 0, or None."""
        return self._made(self.found.unbounded)

    @cached_property
    def unsolved(self) -> Problem[Any] | None:
        """The first instance with a proven optimum on which the method failed or found no solution, or None."""
        return self._made(self.found.first_unsolved)

    def _made(self, pick: Pick | None) -> Problem[Any] | None:
        return None if pick is None else self.space.problem(pick)

    @cached_property
    def result(self) -> Result[Any] | None:
        """The method's result on `problem`, or None if there is no such instance."""
        return None if self.problem is None else run(self.method, self.problem)

    @cached_property
    def optimum(self) -> Result[Any] | None:
        """The exact method's result on `problem`, or None if there is no such instance."""
        exact = catalogue.find_method(self.space.word, self.space.method)
        return None if self.problem is None else run(exact, self.problem)

    @cached_property
    def confirmed(self) -> str:
        """Name of another exact method that proves the same optimum; empty if there is none."""
        others = catalogue.exact_methods(self.space.word)
        return next((name for name in others if name != self.space.method and self._agrees(others[name])), "")

    def _agrees(self, method: MethodLike) -> bool:
        if self.problem is None or self.optimum is None or self.optimum.objective is None:
            return False
        limit = {"budget": Budget(time_limit=_SECOND_PROOF)} if accepts(method, "budget") else {}
        try:
            other = run(method, self.problem, **limit)
        except Exception:  # noqa: BLE001 - the instance may be none of those that it solves
            return False
        value, proven = self.optimum.objective, other.status is Status.OPTIMAL
        return proven and settles(other.objective, value, self.problem.resolution(value))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _lines(self) -> list[str]:
        found, tried = self.found, f"{self.found.instances:,} instances"
        scope = f"all {tried}" if self.complete else tried
        lines = [f"{self.name} on {self.space.about}: {scope} tried"]
        if self.result is not None and self.optimum is not None and self.problem is not None:
            value, optimum = plain(self.result.objective), plain(self.optimum.objective)
            proof = f"{self.space.method}, {self.confirmed}" if self.confirmed else self.space.method
            lines.append(f"value {value:.6g}, optimum {optimum:.6g} {self.problem.unit} (proven by {proof})")
        if found.unbounded is not None:
            lines.append("no bound: on some instance, only one of value and optimum is 0")
        if found.unsolved:
            reason = f": {found.reason}" if found.reason else ""
            lines.append(f"no solution on {found.unsolved:,} of them{reason}")
        if found.unproven:
            lines.append(f"no proven optimum on {found.unproven:,} of them")
        if found.ratio is not None:
            last = "no instance is worse" if self.proven else "the worst that was found"
            lines.append(f"worst ratio {float(found.ratio):.6g}: {last}")
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return the worst case as plain JSON types, with the instance and both solutions."""
        return {
            "method": self.name,
            "word": self.space.word,
            "space": self.space.about,
            "complete": self.complete,
            "proven": self.proven,
            "confirmed": self.confirmed,
            **self.found.as_dict(),
            "instance": None if self.problem is None else self.problem.model_dump(mode="json"),
            "result": None if self.result is None else self.result.as_dict(),
            "optimum": None if self.optimum is None else self.optimum.as_dict(),
        }
