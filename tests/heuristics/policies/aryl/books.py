"""Books with workers, written down in short."""

from heuristics.policies.aryl.books import Books
from heuristics.policies.aryl.crew import Crew
from heuristics.policies.aryl.epoch import Pool
from heuristics.policies.aryl.forms import Form
from heuristics.policies.aryl.machines import Machines
from tests.heuristics.policies.aryl.scenes import pools


def books(own: int, lent: int, gpus: int = 8) -> Books:
    """Return books of machines 0, 1, ... of the training pool, then those of the inference pool, all empty."""
    found = Books(Machines(pools(own, lent, gpus), "T4"))
    found.there[:] = found.machines.gpus
    return found


def form(
    given: Books, pool: Pool, worker_gpus: int, base: int, speeds: tuple[float, ...] = (1.0,), mode: str = ""
) -> Form:
    """Return a form on all machines of a pool."""
    inference = given.machines.inference
    suits = inference | ~inference if pool == "mixed" else inference == (pool == "inference")
    return Form(mode, pool, suits, worker_gpus, base, speeds)


def crew(
    given: Books,
    number: int,
    how: Form,
    base: dict[int, int],
    flexible: dict[int, int] | None = None,
) -> Crew:
    """Let a job run on its workers."""
    begun = Crew(number, how, base, pool=how.pool, speeds=how.speeds)
    given.begin(begun)
    for machine, workers in (flexible or {}).items():
        given.put_flexible(begun, machine, workers)
    return begun
