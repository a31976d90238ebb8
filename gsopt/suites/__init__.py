"""Suites: what is known of the committed instances, and how it is checked.

`best_known` lists value, bound and gap of every instance, who found or proved them, and since when.

Examples
--------
>>> found = best_known("reclaiming/aryl-figure-5")
>>> [(row.instance, row.objective, row.bound, row.standing.value) for row in found]
[('reclaiming/aryl-figure-5', 1, 1, 'proven')]
"""

from gsopt.suites.best_known import BestKnown, best_known
from gsopt.suites.known import Known, Standing

__all__ = ["BestKnown", "Known", "Standing", "best_known"]
