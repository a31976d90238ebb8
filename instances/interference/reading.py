"""Reading: the table that a file of measured pairs holds, and what was not as measured."""

from collections.abc import Iterable

from pydantic import ValidationError

from gsopt.core.files import first_error
from gsopt.core.problem import Frozen, Many
from gsopt.performance.interference import Couple, PairTable, Profile


class PairReading(Frozen):
    """A table of pairs, and which pairs are not in it or not as they were measured.

    Attributes
    ----------
    table
        The slowdowns.
    left_out
        Pairs that the file gives no speed for; in the files that are read here they did not run together.
    raised
        Pairs in which a job was faster than alone, which is noise: its slowdown is 1.
    """

    table: PairTable
    left_out: Many[Couple]
    raised: Many[Couple]

    @property
    def summary(self) -> str:
        """What was read, in one line."""
        return (
            f"{len(self.table.couples):,} pairs; {len(self.left_out):,} without speeds left out; "
            f"{len(self.raised):,} faster than alone read as 1"
        )


def assemble(
    name: str, profiles: Iterable[Profile], pairs: Iterable[tuple[Couple, tuple[float, float] | None]]
) -> PairReading:
    """Make a table of relative speeds, those beside the other job over those alone.

    Parameters
    ----------
    name, profiles
        As of `PairTable`.
    pairs
        Each pair once, with the relative speed of its first and of its second job; None where there is none. Of
        a configuration beside itself the mean of both counts.

    Raises
    ------
    InvalidInput
        A profile or a slowdown breaks a rule, such as one of more than a million.
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
