"""Divisible: the merged model, if each demand on single machines divides the next larger one."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

from formulations.consolidation.case import ConsolidationCase
from formulations.consolidation.merged import Indices, Merged
from formulations.consolidation.program import NamedProgram
from gsopt.core.errors import Unsupported


class Divisible(Merged):
    """A model that counts slots on machines instead of packing jobs, because divisible demands waste no slots.

    Sets
    ----
    K: kinds of jobs with the same demand and, on each level, the same value. D: demands. P: groups just above
    machines, usually racks. V: P and all groups around them. M_p: machines in p. U: machines without a busy
    GPU, if the objective counts entirely free machines. If any machine has islands, islands take the place of
    machines.

    Parameters
    ----------
    n_k: jobs of kind k. d_k: GPUs of each. w_kt: value of one on level t. f_v, f_m: free GPUs of group v and of
    machine m. J: if the number of placed jobs is the primary objective, its maximum; otherwise, 0. b: bonus per
    placed job. h: bonus per entirely free machine.

    Variables
    ---------
    take[k, t], integer: jobs of kind k placed on level t, if they fit there and are worth more than on the next
    wider level. alone[d, p], integer: jobs of d GPUs on single machines in p. across[d, v], integer: jobs of d
    GPUs within v, but not within one group inside v. whole[p, f], integer: machines of f GPUs in p, all in U,
    that stay entirely free.

    Objective
    ---------
    Maximize the sum of w_kt take[k, t] and h whole[p, f], plus b J.

    Constraints
    -----------
    once[k]: the take[k, t] add up to at most n_k.

    link[d, t]: the take[k, t] of the kinds with d GPUs have the same sum as the across[d, v] on level t or, for
    machines, as the alone[d, p].

    room[v]: the d alone[d, p], d across[d, u] and f whole[p, f] within v add up to at most f_v.

    slots[d, p]: the (e / d) alone[e, p] for e >= d, plus the floor(f / d) whole[p, f], add up to at most the
    sum of the floor(f_m / d) over the machines m in M_p.

    number: all take[k, t] add up to at least J.

    Size
    ----
    At most |K| + |D| |V| columns per level, and |U| more.

    Source
    ------
    Dally, section III-B, for values by tier. A machine with f free GPUs has floor(f / d) slots for jobs of d
    GPUs. If larger jobs are placed first, every d GPUs taken from the machine cost exactly one of these slots.

    Raises
    ------
    Unsupported
        A demand that fits on a machine does not divide the next larger one that does, or the objective counts
        entirely free machines and machines consist of islands.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> result = divisible(half_busy(racks=2, machines=2, jobs=8, seed=3))
    >>> result.status, round(float(result.objective), 6)
    (<Status.OPTIMAL: 'optimal'>, 11.456834)
    """

    name: ClassVar[str] = "divisible"

    def check(self, case: ConsolidationCase) -> None:
        """Raise `Unsupported` as in `Merged`, or if demands do not divide each other.

        Each demand that fits on a machine must divide the next larger one.
        """
        super().check(case)
        for more, less in pairwise(case.alone):
            if more % less:
                raise Unsupported(
                    f"{self.name}: {less} GPUs do not divide {more}; patterns accepts any demands"
                )

    def pack(self, model: Any, indices: Indices) -> None:
        """Add the constraints `slots`, which limit the jobs on single machines, to the Pyomo model."""
        from pyomo.environ import Constraint

        model.slots = Constraint(
            indices.alone,
            rule=lambda m, d, p: (
                sum(e // d * m.alone[e, p] for e, own in m.alone if own == p and e >= d)
                + sum(f // d * m.whole[p, f] for own, f in m.whole if own == p)
                <= _slots(indices.case, d, p)
            ),
        )

    def pack_rows(self, program: NamedProgram, indices: Indices) -> None:
        """Add the constraints `slots`, which limit the jobs on single machines, to the arrays."""
        for d, p in indices.alone:
            jobs = [(f"alone[{e},{p}]", e // d) for e, own in indices.alone if own == p and e >= d]
            machines = [(f"whole[{p},{f}]", f // d) for own, f in indices.whole if own == p and f >= d]
            program.row(f"slots[{d},{p}]", jobs + machines, upper=_slots(indices.case, d, p))

    def unpack(self, values: Mapping[str, float], indices: Indices) -> Iterator[tuple[int, int]]:
        """Yield the demand and machine of each single-machine job.

        Jobs are placed largest first. Of the machines in its rack that have room, each job gets the one
        with the fewest free GPUs.
        """
        vacancy, spared = indices.case.vacancy, set(self.spared(values, indices))
        left = [0 if leaf in spared else vacancy.nodes[leaf].free for leaf in range(len(vacancy.gpus))]
        for d, p in sorted(indices.alone, reverse=True):
            for _ in range(round(values.get(f"alone[{d},{p}]", 0.0))):
                leaf = min((u for u in vacancy.leaves[p] if left[u] >= d), key=lambda u: left[u])
                left[leaf] -= d
                yield d, leaf


def _slots(case: ConsolidationCase, d: int, p: int) -> int:
    """Return how many jobs with the given demand fit on the machines in a group."""
    return sum(case.vacancy.nodes[leaf].free // d for leaf in case.vacancy.leaves[p])


divisible = Divisible()
