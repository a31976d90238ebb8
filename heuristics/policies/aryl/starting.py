"""Starting: which of the waiting jobs start, and where their base workers go."""

from collections.abc import Iterable, Mapping, Sequence

from heuristics.policies.aryl.books import Books
from heuristics.policies.aryl.crew import Crew
from heuristics.policies.aryl.flexing import displace
from heuristics.policies.aryl.forms import Form
from heuristics.policies.aryl.placing import place_base


def start(
    books: Books, order: Iterable[int], forms: Mapping[int, Sequence[Form]], *, blocks: bool, grouping: bool
) -> list[Crew]:
    """Start jobs on their base workers, and let flexible workers make way.

    In the given order a job starts if its base workers can be placed, in the first of its forms in which they
    can, beside those that started before it; jobs that are always mixed come after all others, unless order is
    all that counts. Then those that start are placed anew, by decreasing size of their workers, mixed jobs last
    (Aryl, section 5.3 and section 6); if one finds no place that way, they stay where they were placed first.

    Parameters
    ----------
    books
        Who has workers where.
    order
        Jobs that wait.
    forms
        Their forms, the preferred one first.
    blocks
        Whether a job that cannot be placed blocks those behind it.
    grouping
        Whether base and flexible workers are kept apart.

    Returns
    -------
    list
        The jobs that start.
    """
    started: list[Crew] = []
    if not blocks:
        order = sorted(order, key=lambda job: forms[job][0].pool == "mixed")
    refused: set[tuple[int, int, int]] = set()  # forms that find no place, hence none for the rest of this call
    for job in order:
        base = None
        for form in forms[job]:
            shape = id(form.suits), form.worker_gpus, form.base
            if shape in refused:
                continue
            base = place_base(books, form, grouping=grouping)
            if base is not None:
                started.append(Crew(job, form, base, pool=form.pool, speeds=form.speeds))
                books.begin(started[-1])
                break
            refused.add(shape)
        if base is None and blocks:
            break
    _decrease(books, started, grouping=grouping)
    displace(books)
    return started


def _decrease(books: Books, started: Sequence[Crew], *, grouping: bool) -> None:
    """Place base workers anew, the largest first; all stay where they are if one finds no place."""
    if started == started[:1]:
        return
    for crew in started:
        books.put_base(crew.base, -crew.form.worker_gpus)
    placed = _placed(books, started, grouping=grouping)
    for crew in started:
        crew.base = placed.get(crew.job, crew.base)
        books.put_base(crew.base, crew.form.worker_gpus)


def _placed(books: Books, started: Sequence[Crew], *, grouping: bool) -> dict[int, dict[int, int]]:
    """Find machines for jobs, those with the largest workers first; none at all where one finds none."""
    placed: dict[int, dict[int, int]] = {}
    size = {crew.job: crew.form.worker_gpus for crew in started}
    for crew in sorted(started, key=lambda crew: (crew.form.pool == "mixed", -crew.form.worker_gpus)):
        base = place_base(books, crew.form, grouping=grouping)
        if base is None:
            break
        placed[crew.job] = base
        books.put_base(base, crew.form.worker_gpus)
    for job, base in placed.items():
        books.put_base(base, -size[job])
    return placed if len(placed) == len(started) else {}
