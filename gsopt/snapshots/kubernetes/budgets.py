"""Budgets: disruption budgets, which limit how many pods may be evicted at a time."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gsopt.snapshots.field import LONGEST_NAME, Field
from gsopt.snapshots.kubernetes.selection import selects


class DisruptionBudget(NamedTuple):
    """A disruption budget: its name, its selector of pods, and the number of evictions now allowed."""

    name: str  # with its namespace
    selector: Field
    allowed: int  # how many of the pods that it selects may be evicted now


def read_budgets(objects: Sequence[Field], notes: list[str]) -> dict[str, list[DisruptionBudget]]:
    """Read disruption budgets and group them by namespace.

    Budgets without a status, such as those in a file that was never applied, are left out, and a line for each
    is appended to `notes`. Budgets without a selector, which apply to no pod, are left out without a note.
    """
    found: dict[str, list[DisruptionBudget]] = {}
    for each in objects:
        metadata, allowed = each["metadata"], each["status"]["disruptionsAllowed"]
        space = metadata["namespace"].name() if metadata["namespace"] else "default"
        name = f"{space}/{metadata['name'].name()}"[:LONGEST_NAME]
        if not allowed:
            notes.append(f"{each.source}: {name}: has no status.disruptionsAllowed and is left out")
        elif each["spec"]["selector"]:
            found.setdefault(space, []).append(
                DisruptionBudget(name, each["spec"]["selector"], allowed.whole(least=0))
            )
    return found


def budgets_of(
    budgets: Mapping[str, Sequence[DisruptionBudget]], namespace: str, labels: Mapping[str, str]
) -> list[DisruptionBudget]:
    """Return the budgets that apply to a pod with the given namespace and labels."""
    return [budget for budget in budgets.get(namespace, ()) if selects(budget.selector, labels)]
