"""Interference: measured tables of how much two jobs slow each other down on one GPU.

A `PairTable` holds what was measured of pairs, and a `Profile` of each configuration alone.

Examples
--------
>>> profiles = [Profile(name=name, features={"batch size": 32}) for name in ("bert", "resnet50")]
>>> slowdowns = {"bert": {"resnet50": 1.4}, "resnet50": {"bert": 1.7}}
>>> PairTable(profiles=profiles, slowdowns=slowdowns).couples
(('bert', 'resnet50'),)
"""

from gsopt.interference.table import Couple, PairTable, Profile

__all__ = ["Couple", "PairTable", "Profile"]
