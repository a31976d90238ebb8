"""Program: tiny linear programs, solved exactly by the dual simplex method in integer arithmetic."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from gsopt.core.numbers.grid import Exact


def least(
    cost: Sequence[Exact], rows: Sequence[tuple[Sequence[Exact], Exact]]
) -> tuple[Fraction, list[Fraction]] | None:
    """Minimize a non-negative linear cost of non-negative variables exactly, or return None if infeasible.

    Each row holds coefficients, and a lower limit on the sum of the variables multiplied by them. The tableau
    consists of integers over one denominator, the last pivot. Pivots are chosen by Bland's rule, so the method
    terminates. Returns the minimum cost and the values of the variables.

    Source: Bland (1977) for the choice of pivots; Edmonds (1967) for the integers.
    """
    width = len(cost)
    scale, table = 1, []
    for number, (factors, limit) in enumerate([*rows, (cost, 0)]):
        common = lcm(limit.denominator, *(factor.denominator for factor in factors))
        table.append([int(factor * common) for factor in factors] + [-int(limit * common)])
        scale = common if number == len(rows) else scale
    free, bound = list(range(width)), list(range(width, width + len(rows)))
    pivot = 1
    while (row := _broken(table, bound)) is not None:
        column = _entering(table, free, row)
        if column is None:
            return None
        pivot = _turn(table, row, column, pivot)
        free[column], bound[row] = bound[row], free[column]
    values = [Fraction(0)] * (width + len(rows))
    for number, line in zip(bound, table, strict=False):
        values[number] = Fraction(line[width], pivot)
    return Fraction(table[-1][width], pivot * scale), values[:width]


def _broken(table: Sequence[Sequence[int]], bound: Sequence[int]) -> int | None:
    """Return the row of the first negative variable, or None if there is none."""
    below = (row for row in range(len(bound)) if table[row][-1] < 0)
    return min(below, key=lambda row: bound[row], default=None)


def _entering(table: Sequence[Sequence[int]], free: Sequence[int], row: int) -> int | None:
    """Return the column that raises the variable of a row at the lowest cost, or None if none can.

    Ties go to the first variable.
    """
    line, cost = table[row], table[-1]
    raising = (column for column in range(len(free)) if line[column] > 0)
    return min(raising, key=lambda column: (Fraction(cost[column], line[column]), free[column]), default=None)


def _turn(table: list[list[int]], row: int, column: int, before: int) -> int:
    """Exchange the variables of a row and a column, and return the new denominator."""
    line, pivot = table[row], table[row][column]
    for number, other in enumerate(table):
        if number != row:
            factor = other[column]
            table[number] = [
                (value * pivot - factor * own) // before for value, own in zip(other, line, strict=True)
            ]
            table[number][column] = factor
    table[row] = [-value for value in line]
    table[row][column] = before
    return pivot
