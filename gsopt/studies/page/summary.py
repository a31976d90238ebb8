"""Summary: what came of a study, in sentences, and what a reader must know before the tables."""

from collections import Counter
from collections.abc import Iterator, Sequence

from gsopt.studies.outcome import State
from gsopt.studies.provenance import Source, StudyRun
from gsopt.studies.results import Results


def summary(found: Results, runs: Sequence[StudyRun]) -> str:
    """Say in a sentence or two how many cells have a result, and when and by which version."""
    count = f"{len(found):,} of {found.total:,}" if found.missing else f"All {found.total:,}"
    states = Counter(row.outcome.state for row in found.rows)
    kinds = ((State.FAILED, "failed"), (State.UNSUPPORTED, "that the method does not handle"))
    parts = [f"{states[state]:,} {word}" for state, word in kinds if states[state]]
    beside = f", {' and '.join(parts)} among them" if parts else ""
    sentences = [f"{count} cells have a result{beside}."]
    if runs:
        first, last = _day(runs[0]), _day(runs[-1])
        days = f"on {first}" if first == last else f"from {first} to {last}"
        sentences.append(f"Computed {days} by gsopt {', '.join(found.versions)}.")
    return " ".join(sentences)


def remarks(found: Results, sources: Sequence[Source]) -> Iterator[str]:
    """Say what makes the results less than they seem."""
    if found.missing:
        cells = "1 cell is" if found.missing == 1 else f"{found.missing:,} cells are"
        yield f"{cells} missing: the study is not finished."
    if len(found.versions) > 1:
        yield "Cells were computed by different versions of gsopt."
    for path, contents in Counter(source.path for source in sources).items():
        if contents > 1:
            yield f"{path} was changed between cells that read it."


def _day(run: StudyRun) -> str:
    return run.begun.partition("T")[0]
