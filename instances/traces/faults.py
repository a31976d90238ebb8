"""Faults: outages of the servers of a cluster that trains LLMs, from the trace of InfiniteHBD.

The package does not export these functions, because they do not read jobs.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from gsopt.core.errors import InvalidInput, require, shorten
from instances.arguments import at_least
from instances.outages import Outage, Outages, merged
from instances.traces.reading import content, find

#: Path of the file in the folder of public traces.
FILE = Path("llm_node_faults/fault_trace.json.gz")

#: Number of servers, of which those without a fault are not in the file, and length in days. Source:
#: InfiniteHBD.
SERVERS, DAYS = 400, 349

#: Seconds of a day, and of the steps of the file's clock, which is in days with four decimals.
_DAY, _STEP = 86_400, 8.64

_START, _END = "fault_start", "fault_end"


def server_outages(path: str | Path) -> tuple[tuple[Outage, ...], ...]:
    """Read the outages of every server, in seconds from the beginning of the trace.

    A server is out of service as long as any of its faults lasts. A fault that ends at the moment it begins
    counts as lasting for one step of the file's clock, 8.64 s. Servers are in the order of their first faults;
    servers without a fault come last.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the trace or of all traces.

    Raises
    ------
    InvalidInput
        The file cannot be read or is not such a trace.

    Notes
    -----
    C. Shou et al., InfiniteHBD: Building datacenter-scale high-bandwidth domain for LLM with optical circuit
    switching transceivers, SIGCOMM 2025.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or sum(map(len, server_outages(folder))) == 582
    True
    """
    file = find(path, FILE)
    began: dict[str, list[float]] = {}  # of the faults that last, by server
    outages: dict[str, list[Outage]] = {}
    for place, (server, time, is_start) in enumerate(_events(file), start=1):
        open_faults, known = began.setdefault(server, []), outages.setdefault(server, [])
        if is_start:
            open_faults.append(time)
        elif not open_faults:
            raise InvalidInput(
                f"entry {place}: event_type", repr(_END), "must follow a fault_start", source=file.name
            )
        else:
            begin = open_faults.pop(0)
            known.append(Outage(begin, max(time, begin + _STEP)))
    for server, open_faults in began.items():
        if open_faults:
            raise InvalidInput("node_id", shorten(server), "must have an end of every fault", source=file.name)
    require(len(outages) <= SERVERS, "node_id", len(outages), f"must be at most {SERVERS} servers")
    others = [()] * (SERVERS - len(outages))
    return (*(merged(each) for each in outages.values()), *others)


def drawn_outages(histories: Sequence[Sequence[Outage]], machines: Sequence[str], *, seed: int = 0) -> Outages:
    """Draw a server at random for every machine, and return the outages of the machines.

    Servers are drawn in rounds: no server is drawn again until all have been drawn. For each round, a moment of
    the trace is drawn, which becomes time 0; the part of the trace before this moment is appended to the end.
    All servers of a round share the moment, so a fault that hits several of them at once still does. Each round
    has a different moment, so a server that is drawn again has its outages at other times.

    Parameters
    ----------
    histories
        The outages of every server, as `server_outages` returns them.
    machines
        Names of the machines.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> drawn_outages([[Outage(60, 90)], []], ["a", "b"], seed=1)
    {'a': (Outage(begin=26102094.33, end=26102124.33),), 'b': ()}
    """
    at_least(1, histories=len(histories))
    random = Random(seed)
    drawn: dict[str, tuple[Outage, ...]] = {}
    for first in range(0, len(machines), len(histories)):
        shift = round(random.uniform(0, DAYS * _DAY), 2)
        servers = random.sample(histories, len(histories))
        for machine, history in zip(machines[first : first + len(histories)], servers, strict=False):
            drawn[machine] = merged(_shifted(history, shift))
    return drawn


def _shifted(history: Sequence[Outage], shift: float) -> Iterator[Outage]:
    """Yield outages whose times are shifted back, with what comes before time 0 at the end of the trace."""
    span = DAYS * _DAY
    for begin, end in history:
        for offset in (-shift, span - shift):
            early, late = max(begin + offset, 0.0), min(end + offset, span)
            if early < late:
                yield Outage(round(early, 3), round(late, 3))


def _events(file: Path) -> Iterator[tuple[str, float, bool]]:
    """Yield the server, the time in seconds and the kind of every entry, in ascending order of time."""
    try:
        entries = json.loads(content(file))
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list) or not entries:
        raise InvalidInput("", "", "must be a JSON list of faults", source=file.name)
    before = 0.0
    for place, entry in enumerate(entries, start=1):
        time = _field(file, place, entry, "event_time", (int, float), "a number of days")
        kind = _field(file, place, entry, "event_type", str, "a text")
        server = _field(file, place, entry, "node_id", str, "a text")
        if not before <= time <= DAYS:
            rule = f"must be between {before:g}, the time of the entry before it, and {DAYS}"
            raise InvalidInput(f"entry {place}: event_time", shorten(time), rule, source=file.name)
        if kind not in (_START, _END):
            rule = f"must be {_START} or {_END}"
            raise InvalidInput(f"entry {place}: event_type", shorten(kind), rule, source=file.name)
        before = time
        yield server, round(time * _DAY, 3), kind == _START


def _field(file: Path, place: int, entry: Any, name: str, kind: Any, what: str) -> Any:
    value = entry.get(name) if isinstance(entry, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InvalidInput(f"entry {place}: {name}", shorten(value), f"must be {what}", source=file.name)
    return value
