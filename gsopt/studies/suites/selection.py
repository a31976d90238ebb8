"""Selection: the committed instances that decisions, suites and names stand for."""

from collections.abc import Iterable

from gsopt.core.errors import InvalidInput, shorten
from gsopt.evaluation import catalogue


def select(what: Iterable[str]) -> list[str]:
    """Return the names of the instances that are meant, each once; all when nothing is named.

    Raises
    ------
    InvalidInput
        There is no such decision, suite or instance.
    """
    known = catalogue.names()
    found: dict[str, None] = {}
    for wanted in what:
        below = f"{wanted.rstrip('/')}/"
        members = [name for name in known if name == wanted or name.startswith(below)]
        if not members:
            raise InvalidInput("", "suites", shorten(wanted), "is no decision, suite or committed instance")
        found |= dict.fromkeys(members)
    return list(found) if what else known
