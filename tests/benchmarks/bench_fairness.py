"""How often the delay bounds of elastic fair queuing are broken, on 1,500 exact instances of each class.

`docs/claims.md` says that Theorem 1 is false by each reading and that two bounds hold: the counts must show it.
"""

from collections import Counter
from typing import Any

from tests.benchmarks.measures import once, report
from tests.strategies.theorem import KINDS, late

INSTANCES = 1500


def test_counts(benchmark: Any) -> None:
    """Every reading of the paper's bound is broken somewhere, the other two bounds are broken nowhere.

    The columns of the paper's bound are its readings of a busy period: all GPUs held, jobs there, jobs there
    under the fluid; first against generalized processor sharing, then against that with caps.
    """
    readings = [
        f"paper, {busy}, {fluid}" for fluid in ("GPS", "capped GPS") for busy in ("GPUs", "jobs", "GPS")
    ]
    broken: Counter[str] = Counter()

    def table() -> list[str]:
        lines = ["class  paper: GPS  GPUs/jobs/GPS   paper: capped GPS   uncapped  capped"]
        for name, kind in KINDS.items():
            found = [late(kind, seed) for seed in range(INSTANCES)]
            counts = Counter(
                bound for each in found for bound, late_somewhere in each.items() if late_somewhere
            )
            broken.update(counts)
            first, second = (
                " / ".join(str(counts[bound]) for bound in half) for half in (readings[:3], readings[3:])
            )
            applies = sum("uncapped" in each for each in found)
            uncapped = f"{counts['uncapped']} of {applies}"
            lines.append(f"{name:<5}  {first:>24}  {second:>18}  {uncapped:>9}  {counts['capped']:>6}")
        return lines

    lines = once(benchmark, table)
    report(*lines)
    assert len(lines) == len(KINDS) + 1
    assert set(broken) == set(readings)
