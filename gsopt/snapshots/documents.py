"""Documents: JSON or YAML output of other tools, which is read as untrusted input."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gsopt.core.errors import InvalidInput
from gsopt.core.files import parse_json, read_text
from gsopt.scenario.cluster.formats.yaml_text import DEEPEST, parse_documents
from gsopt.snapshots.field import Field

#: Maximum number of Kubernetes objects of one kind, and of entries in a list from Slurm.
MOST_OBJECTS = 1_000_000

_BYTE_ORDER_MARK = "\ufeff"


def read_documents(path: str | Path) -> list[Field]:
    r"""Read all documents in a file: one JSON document, or one or more YAML documents."""
    return parse(str(path), text_of(path))


def text_of(path: str | Path) -> str:
    """Read a text file, without its byte order mark if it has one."""
    return read_text(path).removeprefix(_BYTE_ORDER_MARK)


def parse(source: str, text: str) -> list[Field]:
    """Parse all documents in a string, as in `read_documents`."""
    if text.lstrip()[:1] in ("{", "["):
        data = parse_json(source, text)
        _require_shallow(source, data)
        return [Field(source, data)]
    found = parse_documents(source, text)
    if not found:
        raise InvalidInput("", "", "must be a scheduler's JSON or YAML output, but is empty", source=source)
    if len(found) == 1:
        return [Field(source, found[0])]
    top = Field(source, None)
    return [Field(source, each, top, index) for index, each in enumerate(found) if each is not None]


def _require_shallow(source: str, data: Any) -> None:
    """Raise `InvalidInput` if the data are nested more deeply than any scheduler's output."""
    level = [data]
    for _ in range(DEEPEST):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise InvalidInput("", "", "must be nested less deeply", source=source)


def objects(documents: list[Field]) -> Iterator[Field]:
    """Yield the Kubernetes objects in the documents, with lists split into their items."""
    for document in documents:
        kind = document["kind"].text()
        if not kind.endswith("List"):
            if not kind:
                document.refuse("must be output of kubectl get -o json or yaml, with its kind")
            yield document
            continue
        yield from (_of_kind(item, kind.removesuffix("List")) for item in document["items"])


def _of_kind(item: Field, kind: str) -> Field:
    """Return an item of a list, with the kind that the list implies if the item does not state one."""
    whole = item.mapping()
    return item if "kind" in whole else Field(item.source, {**whole, "kind": kind}, item.above, item.key)
