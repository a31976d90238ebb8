"""Worst: a search for the instance of a space on which a method is farthest from the optimum."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gsopt.core.budget import Budget, TimeLimit, checked_time_limit
from gsopt.core.errors import GsoptError, require_one_of
from gsopt.core.method import MethodLike, name_of
from gsopt.evaluation import catalogue
from gsopt.evaluation.hard_instances import HardInstances
from gsopt.evaluation.ratio import Optima, Worst, worst_of
from gsopt.evaluation.space import Space
from gsopt.studies.options import typed
from gsopt.studies.rows import CellState
from gsopt.studies.runner import StudyProgress, run
from gsopt.studies.spec import Study
from gsopt.studies.worst_case import WorstCase


def worst(
    method: MethodLike | str,
    space: str,
    *,
    search: TimeLimit = None,
    seeds: Sequence[int] = (0,),
    folder: str | Path | None = None,
    workers: int | None = 1,
    scheduler: Any = None,
    on_progress: Callable[[StudyProgress], Any] | None = None,
    options: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> WorstCase:
    """Find the instance of a space on which a method is farthest from the proven optimum.

    By default, the method runs on every instance of the space.

    Parameters
    ----------
    method
        A method for the space's decision, or a policy if the decision is scheduling. A callable runs in this
        process.
    space
        Name of the space, such as ``"scheduling/rigid"``.
    search
        Duration of a genetic search, for spaces that are too large to enumerate; None to enumerate the space.
        One search runs for each seed. At its end, it simplifies the worst instance that it has found.
    seeds
        Seeds of the genetic searches.
    folder
        Folder in which the findings on a method given by name are stored as soon as they are made. If the
        process is killed, the same call continues where it stopped.
    workers, scheduler
        Number of processes, or the scheduler, for methods given by name; see `gsopt.studies.run`.
    on_progress
        Called with the progress of the search for a method given by name.
    options
        Options of the method.
    arguments
        Arguments of the space, such as ``jobs=4``.

    Raises
    ------
    InvalidInput
        A method, space, option or argument does not exist, or an argument is out of range.
    Contradiction
        The method's value is better than a proven optimum, or the method solves an infeasible instance.

    Examples
    --------
    >>> found = worst("fifo", "scheduling/rigid", jobs=2, gpus=1, durations=3, releases=0)
    >>> found.found.ratio, found.proven, found.problem.jobs[0].work
    (Fraction(7, 5), True, 3.0)
    """
    known = catalogue.spaces()
    require_one_of("space", space, known)
    made = known[space](**typed(known[space], arguments))
    limit = checked_time_limit(search, "search")
    given = {} if options is None else dict(options)
    found = catalogue.find_method(made.word, method)
    name = name_of(partial(found, **given) if given else found)
    if isinstance(method, str):
        entry = {"space": space, **arguments}
        entry |= {} if limit is None else {"search": limit, "seed": list(seeds)}
        study = Study(study=f"worst cases of {name}", instances=[entry], methods=[{"method": method, **given}])
        where = {"workers": workers if scheduler is None else None, "scheduler": scheduler}
        worst_found, interrupted = _by_study(study, folder, on_progress, where)
    else:
        worst_found, interrupted = _here(made, found, limit, seeds, given), False
    complete = limit is None and not interrupted
    return WorstCase(name, partial(found, **given), made, worst_found, complete, interrupted)


def _by_study(
    study: Study,
    folder: str | Path | None,
    on_progress: Callable[[StudyProgress], Any] | None,
    where: Mapping[str, Any],
) -> tuple[Worst, bool]:
    """Return the findings, and whether Ctrl-C ended the search; raise KeyboardInterrupt if there are none."""
    with TemporaryDirectory(prefix="gsopt-") as temporary:
        found = run(study, folder or temporary, on_progress=on_progress, **where)
    if found.interrupted and not found.rows:
        raise KeyboardInterrupt
    total = Worst()
    for row in found:
        if row.outcome.state is not CellState.DONE:
            raise GsoptError(f"{row.labels.instance}: {row.outcome.message}")
        total += Worst.from_dict(row.figures)
    return total, found.interrupted


def _here(
    space: Space, method: MethodLike, limit: float | None, seeds: Sequence[int], options: Mapping[str, Any]
) -> Worst:
    optima = Optima(space, catalogue.find_method(space.word, space.method))
    if limit is None:
        return worst_of(space.picks(), method, optima, **options)
    total = Worst()
    for seed in seeds:
        total += HardInstances(method, optima, seed=seed, **options).run(Budget(time_limit=limit))
    return total
