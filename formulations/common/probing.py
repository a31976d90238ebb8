"""Probing: the columns that a linear relaxation rules out, found by re-solving one program with warm starts.

The module imports little because the solvers' worker processes load it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.common.duals import DualProof, Reals, prove
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import PROBED, WANTED
from gsopt.core.result import StoppedBy
from gsopt.solvers.backends import Highs
from gsopt.solvers.backends.base import GRACE
from gsopt.solvers.backends.highs import Model
from gsopt.solvers.backends.process import Late

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink
    from gsopt.solvers.standard_form import StandardForm


class ChoiceColumns(NamedTuple):
    """The binary columns of one choice, exactly one of which is 1, in ascending order of rank.

    Ranks are comparable between choices: of two choices, the one with the lower rank comes first.
    """

    columns: NDArray[np.int32]  # the columns, in their order
    ranks: NDArray[np.int32]  # rank of each column in the common order, ascending
    level: int  # column that holds the choice as a number, to compare choices of the same rank


@dataclass(frozen=True)
class Finding:
    """The columns of each choice that remain possible in solutions whose value does not exceed the cutoff."""

    values: Reals | None  # optimum of the relaxation, shape (columns,), or None if it was not reached
    bound: float  # bound on the relaxation's optimum that the dual values prove; minus infinity for none
    kept: tuple[tuple[int, int], ...]  # for each choice, the first remaining column and the one after the last
    # pairs of choices; the first choice of each pair is always earlier than the second
    orders: tuple[tuple[int, int], ...] = ()


class ProbingQuestion(NamedTuple):
    """A linear program, its choices and a cutoff, as sent to the worker process."""

    model: Model
    options: dict[str, Any]
    largest: Reals
    choices: tuple[ChoiceColumns, ...]
    pairs: tuple[tuple[int, int], ...]
    cutoff: float
    bisects: bool
    seconds: float | None


def probe(
    form: "StandardForm",
    budget: Budget,
    *,
    choices: Sequence[ChoiceColumns],
    largest: Reals,
    cutoff: float,
    pairs: Sequence[tuple[int, int]] = (),
    bisects: bool = True,
) -> Finding | None:
    """Solve a linear relaxation, and rule out columns that would push its optimum above a cutoff.

    The columns of each choice are ordered. At both ends, columns that are proven too expensive are removed:
    first those whose reduced costs are too high, and then, by bisection, those that push the optimum above the
    cutoff when one of them must be chosen. If two choices may come in either order, one order may be ruled out
    in the same way. Without `bisects`, only the reduced costs are used. Every proof is a bound computed from
    dual values (`formulations.common.duals.prove`), so the solver need not be trusted. Integrality is ignored.

    The only solutions that matter have a value of at most the cutoff and no column above `largest`. `pairs`
    lists the pairs of choices to compare. When time runs out, the findings so far are returned. The result is
    None if there are no findings, or if the solver fails.
    """
    solver = Highs()
    left = budget.left()
    deadline = inf if left is None else monotonic() + left
    try:
        with solver.worker(deadline) as worker:
            _, task = solver.request(form, time_limit=None, gap=0.0, start=None)
            left = budget.left()
            question = ProbingQuestion(
                task.model, task.options, largest, tuple(choices), tuple(pairs), cutoff, bisects, left
            )
            limit = None if left is None else left + GRACE
            reply = worker.call(answer, question, limit=limit, hear=lambda _frame: None)
    except Late:
        return None
    if reply.stopped_by is StoppedBy.INTERRUPT:
        raise KeyboardInterrupt
    return reply.answer if isinstance(reply.answer, Finding) else None


def answer(question: ProbingQuestion, link: "ParentLink") -> Finding:
    """Solve the program and narrow its choices in the worker process, and return the findings."""
    return _Probing(question, link).run()


class _Probing:
    """The program loaded into the solver, with the column bounds found so far."""

    def __init__(self, question: ProbingQuestion, link: "ParentLink") -> None:
        self.question, self.model, self.cutoff = question, question.model, question.cutoff
        self.end = inf if question.seconds is None else monotonic() + question.seconds
        self.link = link
        self.upper = np.minimum(self.model.column_upper, question.largest)
        self.kept = [(0, choice.columns.size) for choice in question.choices]
        self.solver = load(question, link)
        self.basis: Any = None

    def run(self) -> Finding:
        """Solve the program, narrow every choice, and compare the pairs."""
        if not self.question.bisects:
            self._stop_above_cutoff()
        first = self._solve()
        if first is None or self._stopped:
            return self._finding(None, first)
        self._price_out(first)
        if not self.question.bisects:
            return self._finding(self._values(), first)
        self._stop_above_cutoff()
        values, self.basis = self._values(), self.solver.getBasis()
        for number in range(len(self.question.choices)):
            for low in (True, False):
                self._cut_end(number, values, low=low)
        return self._finding(values, first, list(self._compare(values)))

    def _stop_above_cutoff(self) -> None:
        """Let the dual simplex method stop as soon as the bound exceeds the cutoff."""
        self.solver.setOptionValue("presolve", "off")
        self.solver.setOptionValue("objective_bound", self.cutoff + PROBED * abs(self.cutoff))

    @property
    def _stopped(self) -> bool:
        return self.link.stopped or monotonic() >= self.end

    def _finding(
        self, values: Reals | None, proof: DualProof | None, orders: Sequence[tuple[int, int]] = ()
    ) -> Finding:
        return Finding(values, -inf if proof is None else proof.bound, tuple(self.kept), tuple(orders))

    def _solve(self) -> DualProof | None:
        """Solve with the current bounds, and return what the dual values prove, or None if there are none."""
        if self.end < inf:
            left = max(self.end - monotonic(), 0.0)
            self.solver.setOptionValue("time_limit", self.solver.getRunTime() + left)
        self.solver.run()
        solution = self.solver.getSolution()
        if not solution.dual_valid:
            return None
        model = self.model._replace(column_upper=self.upper)
        return prove(model, np.asarray(solution.row_dual), self.question.largest)

    def _values(self) -> Reals:
        return np.asarray(self.solver.getSolution().col_value)

    def _fix(self, columns: NDArray[np.int32], upper: Reals) -> None:
        """Set the upper bounds of the given columns, both here and in the solver."""
        self.upper[columns] = upper
        self.solver.changeColsBounds(columns.size, columns, self.model.column_lower[columns], upper)

    def _price_out(self, proof: DualProof) -> None:
        """Rule out the columns whose reduced costs raise the bound above the cutoff."""
        for number, choice in enumerate(self.question.choices):
            columns = choice.columns
            dear = proof.bound + np.maximum(proof.reduced[columns], 0.0) > self.cutoff
            if dear.all():
                continue
            left = np.flatnonzero(~dear)
            self.kept[number] = int(left[0]), int(left[-1]) + 1
            self._fix(columns[dear], np.zeros(int(dear.sum())))

    def _cut_end(self, number: int, values: Reals, *, low: bool) -> None:
        """Rule out as many columns as possible at one end of a choice, by bisection.

        Columns that the relaxation uses cannot be ruled out, so only the columns between them and the end are
        tested.
        """
        begin, end = self.kept[number]
        columns = self.question.choices[number].columns
        wanted = begin + np.flatnonzero(values[columns[begin:end]] > WANTED)
        if not wanted.size:
            return
        proven, open_ = (begin, int(wanted[0]) + 1) if low else (end, int(wanted[-1]))
        while abs(open_ - proven) > 1 and not self._stopped:
            middle = (proven + open_) // 2
            beyond = columns[begin:middle] if low else columns[middle:end]
            others = columns[middle:end] if low else columns[begin:middle]
            if self._refuted_without(others):
                proven = middle
                self._fix(beyond, np.zeros(beyond.size))
            else:
                open_ = middle
        self.kept[number] = (proven, end) if low else (begin, proven)

    def _refuted_without(self, columns: NDArray[np.int32]) -> bool:
        """Check whether the bound exceeds the cutoff when the given columns are fixed at 0."""
        before = self.upper[columns]
        self._fix(columns, np.zeros(columns.size))
        proof = self._solve()
        self._fix(columns, before)
        self.solver.setBasis(self.basis)
        return proof is not None and proof.bound > self.cutoff

    def _compare(self, values: Reals) -> Iterator[tuple[int, int]]:
        """Yield the pairs of choices for which one order has been ruled out, in the order that remains.

        Only the order opposite to that in the relaxation's optimum is tested.
        """
        for pair in self.question.pairs:
            if self._stopped:
                return
            first, second = sorted(pair, key=lambda number: float(values[self.question.choices[number].level]))
            if self._meet(first, second) and self._refuted_with(self._order(second, first)):
                yield first, second

    def _meet(self, *pair: int) -> bool:
        """Check whether the remaining ranks of the given choices allow either order."""
        ranks = [self.question.choices[number].ranks[slice(*self.kept[number])] for number in pair]
        return bool(max(own[0] for own in ranks) <= min(own[-1] for own in ranks))

    def _order(self, first: int, second: int) -> list[tuple[NDArray[np.int32], Reals]]:
        """Return rows, each at most 0, that force the first choice to be no later than the second."""
        early, late = self.question.choices[first], self.question.choices[second]
        rows = [(np.array([early.level, late.level], dtype=np.int32), np.array([1.0, -1.0]))]
        for rank in late.ranks[slice(*self.kept[second])]:
            done, begun = late.columns[late.ranks <= rank], early.columns[early.ranks <= rank]
            rows.append((np.concatenate([done, begun]), np.repeat([1.0, -1.0], [done.size, begun.size])))
        return rows

    def _refuted_with(self, rows: Sequence[tuple[NDArray[np.int32], Reals]]) -> bool:
        """Check whether the bound exceeds the cutoff once the given rows (each at most 0) are added."""
        count, known = len(rows), self.model
        sizes = np.cumsum([0, *(columns.size for columns, _ in rows)], dtype=np.int32)
        columns = np.concatenate([columns for columns, _ in rows])
        values = np.concatenate([values for _, values in rows])
        lower, upper = np.full(count, -inf), np.zeros(count)
        self.solver.addRows(count, lower, upper, columns.size, sizes[:-1], columns, values)
        self.model = known._replace(
            row_lower=np.append(known.row_lower, lower),
            row_upper=np.append(known.row_upper, upper),
            starts=np.append(known.starts, known.starts[-1] + sizes[1:]),
            indices=np.append(known.indices, columns),
            coefficients=np.append(known.coefficients, values),
        )
        proof = self._solve()
        self.model = known
        before = known.row_lower.size
        self.solver.deleteRows(count, np.arange(before, before + count, dtype=np.int32))
        self.solver.setBasis(self.basis)
        return proof is not None and proof.bound > self.cutoff


def load(question: Any, link: "ParentLink") -> Any:
    """Load the linear program into HiGHS, and let the parent process interrupt it."""
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in question.options.items():
        solver.setOptionValue(option, value)
    solver.setOptionValue("solver", "simplex")
    model = question.model
    sizes = (model.cost.size, model.row_lower.size, model.coefficients.size)
    linear = model._replace(integer=np.zeros_like(model.integer))
    solver.passModel(*sizes, int(highspy.MatrixFormat.kRowwise), int(highspy.ObjSense.kMinimize), *linear[1:])
    solver.cbSimplexInterrupt += lambda event: event.interrupt() if link.stopped else None
    return solver
