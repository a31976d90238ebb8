"""Reading: a table of measured pairs, and the pairs that were left out or changed."""

from collections.abc import Iterable

from pydantic import ValidationError

from gsopt.core.files import first_error
from gsopt.core.problem import Frozen, Many
from gsopt.performance.interference import Couple, PairTable, Profile


class PairReading(Frozen):
    """A table of pairs, with lists of the pairs that were left out or changed.

    Attributes
    ----------
    table
        The slowdowns.
    left_out
        Pairs without speeds, because the jobs did not run together or one of them did not run on its own.
    raised
        Pairs in which a job was faster than alone, which is noise. The slowdown of that job was set to 1.
    """

    table: PairTable
    left_out: Many[Couple]
    raised: Many[Couple]

    @property
    def summary(self) -> str:
        """One-line summary of the reading."""
        return (
            f"{len(self.table.couples):,} pairs; {len(self.left_out):,} without speeds left out; "
            f"{len(self.raised):,} faster than alone read as 1"
        )


def assemble(
    name: str, profiles: Iterable[Profile], pairs: Iterable[tuple[Couple, tuple[float, float] | None]]
) -> PairReading:
    """Build a table of slowdowns from the speeds of jobs in pairs, relative to their speeds alone.

    Parameters
    ----------
    name, profiles
        As in `PairTable`.
    pairs
        Each pair once, with the relative speeds of its first and its second job, or None if these are unknown.
        For a pair of equal configurations, the mean of the two speeds is used.

    Raises
    ------
    InvalidInput
        A profile or a slowdown breaks a rule, for example a slowdown of more than a million.
    """
    slowdowns: dict[str, dict[str, float]] = {}
    left_out, raised = [], []
    for (first, second), speeds in pairs:
        if speeds is None:
            left_out.append((first, second))
            continue
        mine, other = speeds if first != second else (sum(speeds) / 2,) * 2
        slowdowns.setdefault(first, {})[second] = max(1.0, 1 / mine)
        slowdowns.setdefault(second, {})[first] = max(1.0, 1 / other)
        if max(mine, other) > 1:
            raised.append((first, second))
    try:
        table = PairTable(name=name, profiles=list(profiles), slowdowns=slowdowns)
    except ValidationError as error:
        raise first_error(name, error) from None
    return PairReading(table=table, left_out=left_out, raised=raised)
