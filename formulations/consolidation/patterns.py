"""Patterns: the merged model for any demands, which lists all maximal fillings of a machine."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar

from formulations.consolidation.case import ConsolidationCase, Stays
from formulations.consolidation.merged import Indices, Merged
from formulations.consolidation.program import NamedProgram
from gsopt.core.errors import Unsupported

#: Maximum number of patterns for one size of machine. With more, the model is no longer small.
_MOST_PATTERNS = 2_000

#: The number of jobs on a machine, by demand.
Pattern = tuple[int, ...]


class Patterns(Merged):
    """A model that decides how many machines are filled according to each pattern.

    Sets
    ----
    As in `formulations.consolidation.divisible.Divisible`, and Q_f: maximal patterns for f free GPUs. A pattern
    states how many jobs of each demand a machine holds together; it is maximal if no further job fits.

    Parameters
    ----------
    As in `Divisible`, and q_d: jobs of d GPUs in pattern q. m_pf: machines in p with f free GPUs.

    Variables
    ---------
    take, alone, across and whole as in `Divisible`. fill[p, f, q], integer: machines in p with f free GPUs that
    are filled according to pattern q.

    Objective
    ---------
    Maximize the sum of w_kt take[k, t] and h whole[p, f], plus b J.

    Constraints
    -----------
    once, link, room and number as in `Divisible`.

    hold[d, p]: alone[d, p] is at most the sum of the q_d fill[p, f, q].

    supply[p, f]: the fill[p, f, q] and whole[p, f] add up to at most m_pf.

    Size
    ----
    The size of `divisible`, plus one column per rack, number of free GPUs and pattern.

    Source
    ------
    Dally, section III-B, for values by tier; Gilmore and Gomory, Operations Research 9 (1961), for patterns.

    Raises
    ------
    Unsupported
        There are more than 2,000 patterns for some number of free GPUs, or the objective counts entirely free
        machines and machines consist of islands.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> result = patterns(half_busy(racks=2, machines=2, jobs=8, demands="any", seed=3))
    >>> result.status, round(float(result.objective), 6)
    (<Status.OPTIMAL: 'optimal'>, 11.532011)
    """

    name: ClassVar[str] = "patterns"

    def check(self, case: ConsolidationCase) -> None:
        """Raise `Unsupported` as in `Merged`, or if machines can be filled in too many ways."""
        super().check(case)
        for free in {case.vacancy.nodes[leaf].free for leaf in range(len(case.vacancy.gpus))}:
            if len(maximal(case.alone, free)) > _MOST_PATTERNS:
                rule = f"there are more than {_MOST_PATTERNS:,} ways to fill {free} GPUs"
                raise Unsupported(f"{self.name}: {rule}; use laminar")

    def pack(self, model: Any, indices: Indices) -> None:
        """Add the columns and rows for patterns to the Pyomo model."""
        from pyomo.environ import Constraint, NonNegativeIntegers, Var

        sizes, demands = _sizes(indices.case), indices.case.alone
        model.fill = Var(_fills(indices.case), domain=NonNegativeIntegers)
        model.hold = Constraint(
            indices.alone,
            rule=lambda m, d, p: (
                m.alone[d, p]
                <= sum(
                    maximal(demands, f)[q][demands.index(d)] * m.fill[own, f, q]
                    for own, f, q in m.fill
                    if own == p
                )
            ),
        )
        model.supply = Constraint(
            [pair for pair in sizes if any(fill[:2] == pair for fill in model.fill)],
            rule=lambda m, p, f: (
                sum(m.fill[fill] for fill in m.fill if fill[:2] == (p, f))
                + sum(m.whole[pair] for pair in m.whole if pair == (p, f))
                <= len(sizes[p, f])
            ),
        )

    def pack_rows(self, program: NamedProgram, indices: Indices) -> None:
        """Add the columns and rows for patterns to the arrays."""
        sizes, demands = _sizes(indices.case), indices.case.alone
        held: dict[tuple[int, int], list[tuple[str, int]]] = {pair: [] for pair in indices.alone}
        filled: dict[tuple[int, int], list[tuple[str, int]]] = {}
        for p, f, q in _fills(indices.case):
            program.column(_fill(p, f, q))
            filled.setdefault((p, f), []).append((_fill(p, f, q), 1))
            for d, count in zip(demands, maximal(demands, f)[q], strict=True):
                if count:
                    held[d, p].append((_fill(p, f, q), -count))
        for (d, p), entries in held.items():
            program.row(f"hold[{d},{p}]", [(f"alone[{d},{p}]", 1), *entries], upper=0)
        for (p, f), entries in filled.items():
            whole = [(f"whole[{p},{f}]", 1)] if (p, f) in indices.whole else []
            program.row(f"supply[{p},{f}]", entries + whole, upper=len(sizes[p, f]))

    def unpack(self, values: Mapping[str, float], indices: Indices) -> Iterator[tuple[int, int]]:
        """Yield the demand and the machine of each single-machine job, according to the machines' patterns."""
        sizes, demands = _sizes(indices.case), indices.case.alone
        spared = set(self.spared(values, indices))
        free = {pair: iter([leaf for leaf in leaves if leaf not in spared]) for pair, leaves in sizes.items()}
        left = {pair: round(values.get(f"alone[{pair[0]},{pair[1]}]", 0.0)) for pair in indices.alone}
        for p, f, q in _fills(indices.case):
            for _ in range(round(values.get(_fill(p, f, q), 0.0))):
                leaf = next(free[p, f])
                for d, most in zip(demands, maximal(demands, f)[q], strict=True):
                    count = min(most, left.get((d, p), 0))
                    yield from [(d, leaf)] * count
                    if count:
                        left[d, p] -= count

    def fill(self, stays: Stays, spared: Collection[int], case: ConsolidationCase) -> Mapping[str, float]:
        """Return the column values, in which each machine with jobs has a pattern that covers them."""
        demands, nodes = case.alone, case.vacancy.nodes
        held: dict[int, Counter[int]] = {}
        for (k, v), count in stays.items():
            if nodes[v].level == 0:
                held.setdefault(v, Counter())[case.kinds[k].gpus] += count
        used = Counter[str]()
        for leaf, counts in held.items():
            least = [counts[d] for d in demands]
            q = next(
                q
                for q, pattern in enumerate(maximal(demands, nodes[leaf].free))
                if all(here >= needed for here, needed in zip(pattern, least, strict=True))
            )
            used[_fill(nodes[leaf].parent, nodes[leaf].free, q)] += 1
        return {**super().fill(stays, spared, case), **used}


def _sizes(case: ConsolidationCase) -> dict[tuple[int, int], list[int]]:
    """Return the innermost groups, keyed by the group around them and their number of free GPUs."""
    found: dict[tuple[int, int], list[int]] = {}
    for leaf in range(len(case.vacancy.gpus)):
        node = case.vacancy.nodes[leaf]
        found.setdefault((node.parent, node.free), []).append(leaf)
    return found


def _fills(case: ConsolidationCase) -> list[tuple[int, int, int]]:
    """List every pattern for a machine: the group around it, its free GPUs, and the pattern's index."""
    demands = case.alone
    return [(p, f, q) for p, f in _sizes(case) for q, pattern in enumerate(maximal(demands, f)) if any(pattern)]


@lru_cache(maxsize=2**10)
def maximal(demands: Sequence[int], free: int) -> tuple[Pattern, ...]:
    """Enumerate the maximal patterns for a number of free GPUs, those with the most large jobs first.

    The enumeration stops after 2,001 patterns, which are too many for the model.
    """
    return tuple(islice(_extend(demands, free), _MOST_PATTERNS + 1))


def _extend(demands: Sequence[int], free: int) -> Iterator[Pattern]:
    if not demands:
        yield ()
        return
    most = free // demands[0]
    if len(demands) == 1:
        yield (most,)
        return
    for count in range(most, -1, -1):
        for rest in _extend(demands[1:], free - count * demands[0]):
            used = sum(d * here for d, here in zip(demands[1:], rest, strict=True))
            if free - count * demands[0] - used < demands[0]:
                yield (count, *rest)


def _fill(p: int, f: int, q: int) -> str:
    return f"fill[{p},{f},{q}]"


patterns = Patterns()
