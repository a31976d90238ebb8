"""Real: instances from measured pairs and the job sizes of a public trace, if these are available."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from gsopt.core.problem import About
from gsopt.performance.interference import PairTable
from gsopt.problems.colocation import Colocation, Pending, Running
from gsopt.scenario.job import Job
from instances.interference import gavel, lucid
from instances.interference.gavel import FILE as GAVEL
from instances.suites import renamed
from instances.traces.sia import FOLDER as SIA
from instances.traces.sia import sia

#: GPU types on which Gavel's pairs were measured.
_GPUS = ("v100", "p100", "k80")

#: Folder of Lucid's tables.
_LUCID = Path("lucid")


def from_data(folder: Path) -> Iterator[Colocation]:
    """Yield four instances of Philly jobs: three with Gavel's pairs, one per GPU type, and one with Lucid's.

    The first 80 jobs of Sia's sample of Philly run and the other 80 wait. Without Lucid's table there are only
    three instances, and without Gavel's table or the sample there are no instances.
    """
    if not ((folder / GAVEL).is_file() and (folder / SIA).is_dir()):
        return
    jobs = sia(folder, trace="philly").workload.jobs
    for gpu in _GPUS:
        yield renamed(measured(gavel(folder, gpu=gpu).table, jobs), f"real/gavel-{gpu}")
    if (folder / _LUCID).is_dir():
        yield renamed(measured(lucid(folder).table, jobs), "real/lucid")


def measured(table: PairTable, jobs: Sequence[Job], *, seed: int = 0) -> Colocation:
    """Create an instance in which the first half of the given jobs run and the others wait.

    The configuration of each job, usually its model and batch size, is drawn from a set in which every pair
    was measured, so that no slowdown has to be made up. Memory is not known, but every measured pair did fit on
    a GPU. For each running job, the fraction of its duration that remains is drawn.
    """
    random = Random(seed)
    names = complete(table)
    half = len(jobs) // 2
    return Colocation(
        name="measured",
        about=About(source=f"pairs of {table.name}, which slow every job down as on one GPU", seed=seed),
        running=[
            Running(
                name=job.name,
                gpus=job.gpus,
                seconds=round(job.duration * random.random(), 1),
                model=random.choice(names),
            )
            for job in jobs[:half]
        ],
        pending=[
            Pending(name=job.name, gpus=job.gpus, seconds=round(job.duration, 1), model=random.choice(names))
            for job in jobs[half:]
        ],
        interference={one: {other: table.slowdowns[one][other] for other in names} for one in names},
    )


def complete(table: PairTable) -> list[str]:
    """Drop configurations one by one, most missing pairs first, until no pair is missing; return the rest."""
    kept = [profile.name for profile in table.profiles]
    while True:
        missing = {one: sum(other not in table.slowdowns.get(one, {}) for other in kept) for one in kept}
        worst = max(kept, key=missing.__getitem__, default=None)
        if worst is None or not missing[worst]:
            return kept
        kept.remove(worst)
