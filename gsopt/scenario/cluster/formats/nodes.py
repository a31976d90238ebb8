"""Nodes: the number and type of each machine's GPUs, as stated by the caller or by a file."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from gsopt.core.errors import InvalidInput, shorten

_GPU = re.compile(r"gpu(?::(?P<type>[^:,()\s]*[^:,()\s\d][^:,()\s]*))?(?::(?P<count>\d{1,7}))?(?:\([^()]*\))?")


class Gpus(NamedTuple):
    """The number and type of a machine's GPUs."""

    number: int
    kind: str = ""  # type; empty when unknown


def read_gres(source: str, place: str, text: str) -> Gpus:
    """Read a machine's GPUs from Slurm's list of generic resources. All GPUs must be of one type."""
    total, kinds = 0, set()
    for part in re.split(r",(?![^()]*\))", text):
        if not re.match(r"gpu(?![^:(])", part):
            continue
        found = _GPU.fullmatch(part)
        if found is None:
            raise InvalidInput(
                f"{place}: Gres", shorten(text), "must be such as gpu:8 or gpu:h100:8", source=source
            )
        total += int(found["count"] or 1)
        kinds.add(found["type"] or "")
    if len(kinds) > 1:
        raise InvalidInput(f"{place}: Gres", shorten(text), "must be GPUs of one type", source=source)
    return Gpus(total, *kinds)


def write_gres(gpus: Gpus) -> str:
    """Return GPUs in the notation of Slurm's generic resources."""
    return f"gpu:{gpus.kind}:{gpus.number}" if gpus.kind else f"gpu:{gpus.number}"


def gpus_of(
    source: str, machine: str, told: int | Mapping[str, int] | None, stated: Mapping[str, Gpus]
) -> Gpus:
    """Return a machine's GPUs. The caller may override their number in the file, but not their type."""
    found = stated.get(machine)
    count = told.get(machine) if isinstance(told, Mapping) else told
    if count is not None:
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise InvalidInput("gpus", shorten(count), "must be a whole number of at least 0", source=source)
        return Gpus(count, found.kind if found else "")
    if found is None:
        rule = "has no number of GPUs in the file: give gpus, or --gpus on the command line"
        raise InvalidInput("gpus", shorten(machine), rule, source=source)
    return found
