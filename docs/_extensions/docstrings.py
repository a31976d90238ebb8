"""Docstrings: the fixed parts of models, plain signatures of data, and names in single backticks."""

import dataclasses
import re
from collections.abc import Iterator
from inspect import Parameter, Signature, isclass
from typing import Any, get_type_hints

from pydantic import BaseModel
from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature

#: The parts of an exact model's docstring. Its parameters are those of the model, not of the class.
MODEL = ("Sets", "Parameters", "Variables", "Objective", "Constraints", "Size", "Source")

_HEADING = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
_CODE = re.compile(r"(``[^`]+``|`[^`]+`)")
_MARK = re.compile(r"[*|]|_(?=\W|$)")


def escape(text: str) -> str:
    """Take the meaning from what is none in a text, such as the bars of a set's size; code stays."""
    pieces = _CODE.split(text)
    return "".join(piece if piece.startswith("`") else _MARK.sub(r"\\\g<0>", piece) for piece in pieces)


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a docstring with their headings; the first has none."""
    begin, name = 0, ""
    for found in _HEADING.finditer(text):
        yield name, text[begin : found.start()].strip("\n")
        begin, name = found.end(), found["name"]
    yield name, text[begin:].strip("\n")


def fold_model(text: str) -> str:
    """Write the parts of a model as notes, which numpydoc knows, and leave the others."""
    parts = list(sections(text))
    names = {name for name, _ in parts}
    own = [name for name in MODEL if name in names and (name != "Parameters" or "Sets" in names)]
    if not own:
        return text
    model = "\n\n".join(_definition(name, part) for name, part in parts if name in own)
    notes = "\n\n".join([*(part for name, part in parts if name == "Notes"), model])
    kept = [(name, part) for name, part in parts if name not in own and name != "Notes"]
    before = [(name, part) for name, part in kept if name != "Examples"]
    after = [(name, part) for name, part in kept if name == "Examples"]
    return "\n\n".join(_section(name, part) for name, part in [*before, ("Notes", notes), *after])


def _definition(name: str, text: str) -> str:
    body = "\n".join(f"    {line}" if line else "" for line in escape(text).splitlines())
    return f"{name}\n{body}"


def _section(name: str, text: str) -> str:
    return f"{name}\n{'-' * len(name)}\n{text}" if name else text


def process_docstring(
    _app: Sphinx, _what: str, _name: str, _found: Any, _options: Any, lines: list[str]
) -> None:
    """Prepare a docstring for numpydoc."""
    lines[:] = [*fold_model("\n".join(lines)).splitlines(), ""]


def process_signature(
    _app: Sphinx, _what: str, _name: str, found: Any, _options: Any, signature: str, returned: str
) -> tuple[str, str]:
    """Show the fields of data as they are given, without the rules that pydantic checks; all else as it is."""
    if not (isclass(found) and (issubclass(found, BaseModel) or dataclasses.is_dataclass(found))):
        return signature, returned
    return stringify_signature(Signature(list(_fields(found))), unqualified_typehints=True), ""


def _fields(model: Any) -> Iterator[Parameter]:
    """Yield the fields of a class of data, each with its type and default."""
    hints = _hints(model)
    if issubclass(model, BaseModel):
        for name, field in model.model_fields.items():
            default = Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
        return
    for each in dataclasses.fields(model):
        if each.init:
            kind = Parameter.KEYWORD_ONLY if each.kw_only else Parameter.POSITIONAL_OR_KEYWORD
            yield Parameter(each.name, kind, default=_default(each), annotation=hints[each.name])


def _hints(model: Any) -> dict[str, Any]:
    """Return the types of the fields without rules; as they are written where they cannot be told."""
    try:
        hints = get_type_hints(model)
    except NameError:  # of a type that is only imported for type checkers
        hints = {each.name: each.type for each in dataclasses.fields(model)}
    return {name: _given(hint) for name, hint in hints.items()}


def _given(hint: Any) -> Any:
    """Return the type that a field takes; one that turns what it is given into something else says so."""
    setter = getattr(hint, "__set__", None)
    return hint if setter is None else get_type_hints(setter)["value"]


def _default(field: Any) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return Parameter.empty if field.default_factory is dataclasses.MISSING else _Made()


class _Made:
    """Stands for a default that is made anew for each object."""

    def __repr__(self) -> str:
        return "..."


def setup(app: Sphinx) -> dict[str, bool]:
    """Stand before numpydoc."""
    app.connect("autodoc-process-docstring", process_docstring, priority=400)
    app.connect("autodoc-process-signature", process_signature, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
