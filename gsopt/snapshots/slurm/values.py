"""Values: numbers, times, states and lists, in the formats of Slurm's releases."""

import re

from gsopt.scenario.cluster.formats.hostlist import expand
from gsopt.snapshots.field import Field
from gsopt.snapshots.node import NODE_NAME

_MOST_NODES = 20_000


def number(field: Field, default: int = 0) -> int:
    """Read a number, which newer releases wrap in an object.

    If the number is missing, not set or infinite, return the default.
    """
    if not isinstance(field.value, dict):
        return field.whole(default)
    if field["infinite"].truth() or not field["set"].truth():
        return default
    inner = field["number"]
    if isinstance(inner.value, float) and inner.value.is_integer():
        return Field(inner.source, int(inner.value), inner.above, inner.key).whole()
    return inner.whole(default)


def moment(field: Field) -> float | None:
    """Read a Unix timestamp, or return None if it is missing, zero, not set or infinite."""
    if isinstance(field.value, dict):
        return None if field["infinite"].truth() or not field["set"].truth() else field["number"].seconds()
    return field.seconds()


def words(field: Field) -> tuple[str, ...]:
    """Read states, flags or names from a list, or from a string that joins them by ``+``, ``,`` or ``&``.

    Marks at the end of a string, such as ``*``, are left out.
    """
    texts = [each.text() for each in field] if isinstance(field.value, list) else [field.text()]
    return tuple(word for text in texts for word in re.split(r"[+,&]", text.rstrip("*~#!%$@^-")) if word)


def nodes(field: Field) -> list[str]:
    """Read node names from a list or a host-list expression, and check that they are safe in commands."""
    if isinstance(field.value, list):
        return [node_name(each) for each in field]
    text = field.text()
    if not text:
        return []
    try:
        found = expand(text, _MOST_NODES)
    except ValueError as error:
        field.refuse(str(error))
    for name in found:
        if not NODE_NAME.fullmatch(name):
            field.refuse("must be names of letters, digits and . - _")
    return found


def node_name(field: Field) -> str:
    """Read the name of a single node, with the same check as in `nodes`."""
    if not NODE_NAME.fullmatch(field.name()):
        field.refuse("must be a name of letters, digits and . - _")
    return field.name()
