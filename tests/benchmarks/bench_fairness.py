"""How often the delay bounds of elastic fair queuing are broken, on 1,500 exact instances of each class."""

from collections import Counter
from typing import Any

from tests.strategies.theorem import KINDS, late

INSTANCES = 1500


def test_counts(benchmark: Any) -> None:
    """Print the number of instances in which a job is later than each bound allows.

    The columns of the paper's bound are its readings of a busy period: all GPUs held, jobs there, jobs there
    under the fluid; first against generalized processor sharing, then against that with caps.
    """

    def table() -> list[str]:
        readings = [
            f"paper, {busy}, {fluid}" for fluid in ("GPS", "capped GPS") for busy in ("GPUs", "jobs", "GPS")
        ]
        lines = ["class  paper: GPS  GPUs/jobs/GPS   paper: capped GPS   uncapped  capped"]
        for name, kind in KINDS.items():
            found = [late(kind, seed) for seed in range(INSTANCES)]
            counts = Counter(bound for each in found for bound, broken in each.items() if broken)
            first, second = (
                " / ".join(str(counts[bound]) for bound in half) for half in (readings[:3], readings[3:])
            )
            applies = sum("uncapped" in each for each in found)
            uncapped = f"{counts['uncapped']} of {applies}"
            lines.append(f"{name:<5}  {first:>24}  {second:>18}  {uncapped:>9}  {counts['capped']:>6}")
        return lines

    lines = benchmark.pedantic(table, rounds=1, iterations=1)
    print("", *lines, sep="\n")  # noqa: T201 - a benchmark reports
    assert len(lines) == len(KINDS) + 1
