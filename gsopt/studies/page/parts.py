"""Parts: a study's results decision by decision, as no figure of one says anything of another."""

from dataclasses import replace

from gsopt.studies.results import Results
from gsopt.studies.rows import Row

_POLICIES = "policies"


def parts(found: Results) -> dict[str, Results]:
    """Return the results of each decision by its name, and those of policies."""
    rows: dict[str, list[Row]] = {}
    for row in found.rows:
        rows.setdefault(row.word or _POLICIES, []).append(row)
    return {name: replace(found, rows=tuple(members)) for name, members in rows.items()}
