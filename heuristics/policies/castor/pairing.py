"""Pairing: a decider that starts jobs on free GPUs, and matches the others jointly with running jobs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gsopt.simulation.parts.partners import Judge, Partner, Partners
from gsopt.simulation.parts.starts import beside, on_free
from gsopt.simulation.parts.tiers import need_of
from gsopt.simulation.parts.turns import Turn, Turns
from gsopt.simulation.placer import Placer
from gsopt.simulation.policy import Action, Start, State


class Pairing:
    """A decider that starts waiting jobs on free GPUs or in the best pairs, and never stops jobs.

    The best pairs are a matching of waiting jobs with running jobs. Each job is in at most one pair, and the
    sum of the ranks that `judge` returns, which must all be negative, is minimized. A partner must have at
    least as many GPUs to itself as the waiting job demands. Running jobs that still have GPUs to themselves are
    matched again until no pair is found. With `several`, jobs that still wait may then share with several
    partners and also use free GPUs, as in `heuristics.policies.castor.colocating.Colocating`.
    """

    preemptive = False

    def __init__(
        self,
        state: State,
        key: Callable[[int], Any],
        judge: Judge,
        *,
        several: bool = False,
        placer: Placer | None = None,
    ) -> None:
        self._jobs, self._key, self._several, self._placer = state.jobs, key, several, placer
        self._partners = Partners(judge)
        self._turns = Turns()

    def decide(self, state: State) -> Iterable[Action]:
        """Start jobs on free GPUs, and pair the others with running jobs."""
        for job in (*state.evicted, *state.arrived):
            self._turns.add(Turn(self._key(job), 0, job), need_of(self._jobs[job]))
        if not self._turns:
            return
        self._partners.update(state)
        for turn, need in self._turns.walk(lambda need: need.gpus <= state.free):
            yield from self._made(state, turn, need, on_free(state, turn.job, self._placer))
        while starts := self._pairs(state):
            for turn, need, start in starts:
                yield from self._made(state, turn, need, start)
        if self._several:
            for turn, need in self._turns.walk(lambda need: need.gpus <= state.free + self._partners.room):
                found = beside(state, turn.job, self._partners.of(state, turn.job))
                yield from self._made(state, turn, need, found)

    def _made(self, state: State, turn: Turn, need: Any, start: Start | None) -> Iterator[Start]:
        """Yield a start unless it is None, and update the queue and the partners."""
        if start is not None:
            self._turns.remove(turn, need)
            yield start
            self._partners.refresh(state, turn.job)

    def _pairs(self, state: State) -> list[tuple[Turn, Any, Start]]:
        """Return the waiting jobs in the best pairs, in queue order, with their starts."""
        turns = list(self._turns.walk(lambda need: need.gpus <= self._partners.room))
        found: dict[int, dict[int, Partner]] = {}
        for turn, need in turns:
            wide = [each for each in self._partners.of(state, turn.job) if len(each.gpus) >= need.gpus]
            if wide:
                found[turn.job] = {partner.job: partner for partner in wide}
        chosen = assign_partners(
            {job: {p: -each.rank for p, each in own.items()} for job, own in found.items()}
        )
        starts = []
        for turn, need in turns:
            if turn.job in chosen:
                partner = found[turn.job][chosen[turn.job]]
                starts.append((turn, need, Start(turn.job, partner.gpus[: need.gpus], partner.mode)))
        return starts


def assign_partners(values: Mapping[int, Mapping[int, Any]]) -> dict[int, int]:
    """Assign each job to one of its partners, or to none, to maximize the sum of the values.

    A partner gets at most one job. `values[job][partner]` must be positive, and is rounded to a float. This is
    the assignment problem in which a job without a partner has the value 0. O(n^3) for n jobs and partners
    (Jonker and Volgenant 1987, as implemented in scipy).
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    if not values:
        return {}
    columns = {partner: at for at, partner in enumerate(sorted({p for own in values.values() for p in own}))}
    matrix = np.zeros((len(values), len(columns)))
    for row, own in enumerate(values.values()):
        for partner, value in own.items():
            matrix[row, columns[partner]] = float(value)
    jobs, partners = list(values), list(columns)
    assigned = zip(*linear_sum_assignment(matrix, maximize=True), strict=True)
    return {jobs[row]: partners[column] for row, column in assigned if matrix[row, column] > 0}
