"""Suites: what is known of the committed instances, and how it is checked.

`best_known` lists value, bound and gap of every instance, who found or proved them, and since when. `verify`
computes them anew, and `record` keeps what is better. `families` says how far heuristics get on each suite.

Examples
--------
>>> found = best_known("reclaiming/aryl-figure-5")
>>> [(row.instance, row.objective, row.bound, row.standing.value) for row in found]
[('reclaiming/aryl-figure-5', 1, 1, 'proven')]
"""

from gsopt.studies.suites.best_known import BestKnown, best_known
from gsopt.studies.suites.families import Families, Family, families
from gsopt.studies.suites.known import Known, Standing
from gsopt.studies.suites.record import record
from gsopt.studies.suites.verdict import Verdict, VerificationOutcome
from gsopt.studies.suites.verification import Verification, verify

__all__ = [
    "BestKnown",
    "Families",
    "Family",
    "Known",
    "Standing",
    "Verdict",
    "Verification",
    "VerificationOutcome",
    "best_known",
    "families",
    "record",
    "verify",
]
