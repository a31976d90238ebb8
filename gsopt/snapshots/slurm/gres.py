"""GRES: GPUs and other generic resources, in the formats of Slurm's commands and releases."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from gsopt.snapshots.field import Field

_GPU = "gpu"

#: Texts that stand for an empty list.
_NOTHING = frozenset({"", "(null)", "N/A", "none", "NONE"})

_MOST = 1_000_000_000
_SCALES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_COUNT = re.compile(r"(\d{1,12})([KMG]?)", re.ASCII)
_WORD = re.compile(r"[^\s:=,()]{1,100}")
_SOCKETS = re.compile(r"\((?!null\))[^()]*\)")  # such as (S:0-1) and (IDX:0,2)


class Gres(NamedTuple):
    """The generic resources of a node, or of a job on a node."""

    gpus: Mapping[str, int]  # by type, which is empty if unknown
    others: Mapping[str, int]  # such as shards

    @property
    def number(self) -> int:
        """Number of GPUs, of all types together."""
        return sum(self.gpus.values())

    @property
    def kind(self) -> str:
        """The types of the GPUs, joined by ``+``; empty if unknown."""
        return "+".join(sorted(kind for kind, number in self.gpus.items() if kind and number))

    def named(self) -> dict[str, int]:
        """Return the amounts, keyed by the resource names that problems use."""
        typed = {f"{_GPU}:{kind}": number for kind, number in self.gpus.items() if kind}
        found = {_GPU: self.number} | typed | dict(self.others)
        return {name: number for name, number in found.items() if number}


def read_gres(field: Field) -> Gres:
    """Read a list of generic resources.

    The list may describe a node (``gpu:h100:4(S:0-1),gpu:h200:2``), resources in use
    (``gpu:h100:2(IDX:0-1)``), or a request (``gres/gpu:h100:1`` or ``gres:gpu:2``). For lists that contain
    ``=``, use `read_tres`.
    """
    gpus, others = Counter[str](), Counter[str]()
    for part in _SOCKETS.sub("", field.text()).split(","):
        name, kind, number = _entry(field, part.strip())
        if name == _GPU:
            gpus[kind] += number
        elif name:
            others[name] += number
    return Gres(gpus, others)


def read_tres(field: Field) -> dict[str, int]:
    """Read a list of trackable resources, such as ``cpu=16,mem=62.50G,node=2,gres/gpu:h100=8``.

    Memory is in MiB. Entries whose values are not numbers, or exceed 1,000,000,000, are left out.
    """
    found: dict[str, int] = {}
    for part in field.text().split(","):
        name, told, text = part.partition("=")
        amount = _amount(text) if told else None
        if amount is not None and amount <= _MOST:
            found[name.removeprefix("gres/")] = amount
    return found


def _amount(text: str) -> int | None:
    """Read a number, or an amount of memory in MiB; return None if the text is neither."""
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?)([KMGTP]?)", text, re.ASCII)
    if found is None:
        return None
    scale = {"": 1.0, "K": 2**-10, "M": 1.0, "G": 2.0**10, "T": 2.0**20, "P": 2.0**30}[found[2]]
    return int(float(found[1]) * scale)


def _entry(field: Field, part: str) -> tuple[str, str, int]:
    """Split an entry into its name, type and number."""
    if part in _NOTHING:
        return "", "", 0
    words = part.removeprefix("gres/").removeprefix("gres:").split(":")
    number = _COUNT.fullmatch(words[-1]) if len(words) > 1 else None
    named = words[:-1] if number else words
    if not named or len(named) > 2 or not all(map(_WORD.fullmatch, named)):  # noqa: PLR2004 - a name and a type
        field.refuse("must be generic resources such as gpu:8 or gpu:h100:8")
    count = int(number[1]) * _SCALES[number[2]] if number else 1
    if count > _MOST:
        field.refuse(f"must be at most {_MOST:,}")
    return named[0], named[1] if len(named) > 1 else "", count
