"""Gantt: Gantt charts of the policy runs in a study, which are simulated again."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gsopt.core.errors import InvalidInput, shorten
from gsopt.simulation import Replay
from gsopt.simulation.plots import overview
from gsopt.studies.cells import cells_of
from gsopt.studies.compute import recorded
from gsopt.studies.page.pictures import PagePicture
from gsopt.studies.page.svg import inline
from gsopt.studies.results import Results
from gsopt.studies.rows import CellRow, CellState
from gsopt.studies.spec import Study

#: Patterns of the separators between the words of a name, and of the options in a name.
_SEPARATORS, _OPTIONS = re.compile(r"[(),\s]+"), re.compile(r"\([^()]*\)")

#: Maximum number of names in an error message.
_MOST_NAMES = 3


def gantts(spec: str, found: Results, names: Sequence[str], allow: Iterable[str] = ()) -> Iterator[PagePicture]:
    """Simulate the named runs again, and yield a Gantt chart of each.

    Call this inside `gsopt.studies.page.svg.drawing`.

    A run is named by its method and instance, as in ``fifo on Poisson(load=0.9, seed=1)``. For a randomized
    policy, append ``, seed 2`` to select a seed other than the first. Options that do not distinguish between
    runs may be left out.

    Raises
    ------
    InvalidInput
        A name matches no run or several runs, the instance of a run has changed, or a new run has another mean
        job completion time than the stored one.
    """
    known = runs_of(found)
    chosen = dict.fromkeys(find_run(name, known) for name in names)
    study = Study.model_validate_json(spec)
    cells = {cell.key: cell for cell in cells_of(study, allow=allow)} if names else {}
    for name in chosen:
        row = known[name]
        if row.key not in cells:
            raise InvalidInput("gantt", shorten(name), "its instance has changed")
        run = recorded(cells[row.key])
        _refuse_other(name, run, row)
        if run.schedule is not None:
            figure = overview(run.schedule, run.scenario)
            yield PagePicture(name, inline(figure, name), on_white=True)


def runs_of(found: Results) -> dict[str, CellRow]:
    """Return the runs of policies, keyed by name.

    The run with the first seed is also listed under its name without the seed.
    """
    known: dict[str, CellRow] = {}
    for row in found.rows:
        if not row.word and row.outcome.state is CellState.DONE:
            name = f"{row.labels.method} on {row.labels.instance}"
            known.setdefault(name, row)
            if row.seed is not None:
                known[f"{name}, seed {row.seed}"] = row
    return known


def find_run(name: str, known: Mapping[str, CellRow]) -> str:
    """Return the full name of the only run that matches the given name, in which options may be left out.

    Raises
    ------
    InvalidInput
        No run or several runs match the name.
    """
    if name in known:
        return name
    first: dict[int, str] = {}  # a run's name without seed comes first
    for full, row in known.items():
        first.setdefault(id(row), full)
    named = [full for full in known if _bases(full) == _bases(name)]
    fitting = [full for full in named if full in first.values() and _words(name) <= _words(full)]
    if len(fitting) > 1:
        raise InvalidInput("gantt", shorten(name), f"is {len(fitting):,} runs: {_first(fitting)}")
    if not fitting:
        raise InvalidInput("gantt", shorten(name), _rule(named or list(known)))
    return fitting[0]


def _words(name: str) -> Counter[str]:
    """Return how often each word occurs in a name."""
    return Counter(_SEPARATORS.split(name))


def _bases(name: str) -> str:
    """Return a name without its options."""
    return _OPTIONS.sub("", name)


def _rule(known: Sequence[str]) -> str:
    if not known:
        return "must be a policy's run, of which the study has none"
    return f"must be METHOD on INSTANCE: {_first(known)}"


def _first(names: Sequence[str]) -> str:
    more = f", ... ({len(names):,} in all)" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _refuse_other(name: str, run: Replay, row: CellRow) -> None:
    """Raise `InvalidInput` if a run's mean JCT differs from that of the stored run."""
    kept, now = row.figures["mean_jct"], run.metrics.as_dict()["mean_jct"]
    if kept != now:
        rule = f"is no longer the run in the study: its mean JCT was {kept} and is {now}"
        raise InvalidInput("gantt", shorten(name), rule)
