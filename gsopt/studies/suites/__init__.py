"""Suites: the best known values of the committed instances, and their verification.

`best_known` lists the value, bound and gap of every instance, with the methods that found them and the date.
`verify` computes the values again, and `record` stores improvements. `submit` checks what others have found.
`families` summarizes the gaps of heuristics on each suite.

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
from gsopt.studies.suites.submission import Submission, submit
from gsopt.studies.suites.verdict import Verdict, VerificationOutcome
from gsopt.studies.suites.verification import Verification, verify

__all__ = [
    "BestKnown",
    "Families",
    "Family",
    "Known",
    "Standing",
    "Submission",
    "Verdict",
    "Verification",
    "VerificationOutcome",
    "best_known",
    "families",
    "record",
    "submit",
    "verify",
]
