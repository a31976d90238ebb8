"""Reference: a page for each name that the four packages offer, grouped by task, for autodoc to fill.

What a package offers is its ``__all__``. The single modules of gsopt, and those of its problems, have a page
each with all that they define.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from inspect import getdoc, isclass, isfunction, ismodule
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import docutils.nodes
from docstrings import escape
from pages import block, title, write
from pydantic import BaseModel
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import getLogger
from tasks import TASKS, Task, task_of

import formulations
import gsopt
import gsopt.core.numbers
import gsopt.problems
import gsopt.scenario
import gsopt.solvers
import heuristics
import instances

_LOGGER = getLogger(__name__)

ROOTS = (gsopt, formulations, heuristics, instances)

#: Packages of which the single modules have pages too.
_OPENED = (gsopt, gsopt.core, gsopt.core.numbers, gsopt.scenario, gsopt.solvers, gsopt.problems)
_CLOSED = {"gsopt.__main__", "gsopt.cli"}

_COMMENT = re.compile(r"(?P<text>(?:^#: .*\n)+)^(?P<name>\w+)\b", re.MULTILINE)

_INTRODUCTION = """
Every public name has a page of its own. They are grouped by what you want to do.
"""


@dataclass(frozen=True)
class Entry:
    """A name that is offered, and what it stands for."""

    module: str
    name: str
    found: Any
    kind: str = ""  # tells the page from one of the same name in another case, where there is one

    @property
    def path(self) -> str:
        """The name as it is imported."""
        return f"{self.module}.{self.name}"

    @property
    def page(self) -> str:
        """The document that is about it, in the folder of the reference."""
        return self.path.replace(".", "/") + self.kind

    @property
    def summary(self) -> str:
        """The first sentence that is written about it."""
        return first_sentence(documentation(self.found, self.name))


def packages(root: ModuleType) -> Iterator[ModuleType]:
    """Yield a package and those within it."""
    yield root
    for found in iter_modules(root.__path__, f"{root.__name__}."):
        if found.ispkg and found.name not in _CLOSED:
            yield from packages(import_module(found.name))


def single_modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules of a package that are no packages."""
    for found in iter_modules(package.__path__, f"{package.__name__}."):
        if not found.ispkg and found.name not in _CLOSED:
            yield import_module(found.name)


def offers(package: ModuleType) -> list[Entry]:
    """Return what a package exports; the packages and modules among it have pages of their own."""
    found = {name: getattr(package, name) for name in getattr(package, "__all__", ())}
    cases = Counter(name.lower() for name in found)
    return [
        Entry(package.__name__, name, each, "" if cases[name.lower()] == 1 else kind(each))
        for name, each in found.items()
        if not ismodule(each)
    ]


def kind(found: Any) -> str:
    """Say what a name stands for, to tell its page from that of the same name in another case."""
    return "-class" if isclass(found) else "-function" if isfunction(found) else "-constant"


def defines(module: ModuleType) -> list[Entry]:
    """Return the functions and classes that a module defines."""
    own = {
        name: each
        for name, each in vars(module).items()
        if (isclass(each) or isfunction(each))
        and name.isidentifier()  # of a generic class, each form with a type is a name too
        and not name.startswith("_")
        and (each.__module__, each.__qualname__) == (module.__name__, name)
    }
    return [Entry(module.__name__, name, each) for name, each in own.items()]


class Reference:
    """What is offered, where its pages are, and by which other names it is known."""

    @cached_property
    def packages(self) -> list[ModuleType]:
        """All packages, each before those within it."""
        return [package for root in ROOTS for package in packages(root)]

    @cached_property
    def modules(self) -> list[ModuleType]:
        """The modules that have a page each."""
        return [module for package in _OPENED for module in single_modules(package)]

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Whatever has a page, by its path. What is offered twice has its page where it was offered first."""
        offered = {entry.path: entry for package in self.packages for entry in offers(package)}
        first: dict[int, Entry] = {}
        for entry in offered.values():
            first.setdefault(id(entry.found), entry)
        return {path: first[id(entry.found)] for path, entry in offered.items()}

    @cached_property
    def homes(self) -> dict[str, str]:
        """The path under which the reference knows what Python finds under another."""
        known = {path: entry.path for path, entry in self.entries.items()}
        for entry in self.entries.values():
            home, name = getattr(entry.found, "__module__", ""), getattr(entry.found, "__qualname__", "")
            if is_ours(home) and name:
                known.setdefault(f"{home}.{name}", entry.path)
        return known

    @cached_property
    def paths(self) -> dict[str, set[str]]:
        """The paths of the things that have a name."""
        defined = [entry for module in self.modules for entry in defines(module)]
        paths: dict[str, set[str]] = {}
        for entry in [*self.entries.values(), *defined]:
            home = f"{getattr(entry.found, '__module__', '')}.{entry.name}"
            paths.setdefault(entry.name, set()).add(self.homes.get(home, entry.path))
        return paths

    def find(self, name: str) -> str | None:
        """Find the path of what a docstring names, by a path of Python or by a name that only one thing has."""
        if name in self.homes:
            return self.homes[name]
        return next(iter(self.paths[name])) if len(self.paths.get(name, ())) == 1 else None

    def pages(self) -> dict[str, str]:
        """Return every page of the reference."""
        return {
            "index.rst": self.index_page(),
            **{f"{task.page}.rst": self.task_page(task) for task in TASKS},
            **{f"{page_of(package)}.rst": self.package_page(package) for package in self.packages},
            **{f"{page_of(module)}.rst": self.module_page(module) for module in self.modules},
            **{f"{entry.page}.rst": entry_page(entry) for entry in self.entries.values()},
        }

    def index_page(self) -> str:
        """Return the page of all tasks, each with what it begins with."""
        rows = []
        for task in TASKS:
            names = [f":py:obj:`{name} <gsopt.{name}>`" for name in task.names]
            names += [doc_link(module) for module in self.begins(task)]
            rows.append(
                (f":doc:`{task.title} </reference/{task.page}>`", f"{task.summary}\n\n{', '.join(names)}")
            )
        listed = block("gsopt <gsopt/index>", *(task.page for task in TASKS))
        toctree = f".. toctree::\n   :hidden:\n\n{listed}"
        return f"{title('API reference')}\n{_INTRODUCTION}\n{summary_table(rows)}\n\n{toctree}\n"

    def task_page(self, task: Task) -> str:
        """Return the page of a task: its names, and its packages."""
        entries = [self.entries[f"gsopt.{name}"] for name in task.names]
        begins = self.begins(task)
        rows = [(f":py:obj:`{entry.name} <{entry.path}>`", entry.summary) for entry in entries]
        below = [(doc_link(module), module_summary(module)) for module in begins]
        documents = [f"{entry.name} </reference/{entry.page}>" for entry in entries]
        documents += [f"{module.__name__} </reference/{page_of(module)}>" for module in begins]
        parts = [title(task.title), task.summary, summary_table(rows)]
        parts += [".. rubric:: Packages and modules", summary_table(below)] if below else []
        return "\n\n".join([*parts, f".. toctree::\n   :hidden:\n\n{block(*documents)}"]) + "\n"

    def begins(self, task: Task) -> list[ModuleType]:
        """Return the packages and modules of a task that do not lie in another one of it."""
        own = [each for each in [*self.packages, *self.modules] if task_of(each.__name__) is task]
        names = {each.__name__ for each in own}
        return [each for each in own if each.__name__.rpartition(".")[0] not in names]

    def package_page(self, package: ModuleType) -> str:
        """Return the page of a package: what it is, what it offers, and what is within it."""
        offered = [self.entries[entry.path] for entry in offers(package)]
        task = task_of(package.__name__)
        within = [each for each in [*self.packages, *self.modules] if is_within(each, package)]
        rows = [(f":py:obj:`{entry.name} <{entry.path}>`", entry.summary) for entry in offered]
        below = [(doc_link(each), module_summary(each)) for each in within]
        own = [entry for entry in offered if entry.module == package.__name__ != gsopt.__name__]
        nested = [each for each in within if task is not None and task_of(each.__name__) is task]
        documents = [f"{entry.name} </reference/{entry.page}>" for entry in own]
        documents += [f"{each.__name__.rpartition('.')[2]} </reference/{page_of(each)}>" for each in nested]
        parts = [head(package, indexed=package.__name__ not in self.entries), summary_table(rows)]
        parts += [".. rubric:: Packages and modules", summary_table(below)] if below else []
        parts += [f".. toctree::\n   :hidden:\n\n{block(*documents)}"] if documents else []
        return "\n\n".join(parts) + "\n"

    def module_page(self, module: ModuleType) -> str:
        """Return the page of a module, with all that it defines and what has its page elsewhere."""
        elsewhere = {id(entry.found): entry for entry in self.entries.values()}
        rows = []
        shown = []
        for entry in defines(module):
            known = elsewhere.get(id(entry.found))
            rows.append((f":py:obj:`{entry.name} <{(known or entry).path}>`", entry.summary))
            shown += [] if known else [directive(entry)]
        return "\n\n".join([head(module), summary_table(rows), *shown]) + "\n"


def page_of(module: ModuleType) -> str:
    """Return the document of a package or module, which no name of another case hides."""
    return f"{module.__name__.replace('.', '/')}/index"


def doc_link(module: ModuleType) -> str:
    """Link the page of a package or module."""
    return f":doc:`{module.__name__} </reference/{page_of(module)}>`"


def is_within(module: ModuleType, package: ModuleType) -> bool:
    """Check whether a module lies in a package, and not deeper."""
    return module.__name__.rpartition(".")[0] == package.__name__


def head(module: ModuleType, *, indexed: bool = True) -> str:
    """Return title and docstring of a module. One that a function hides is not in the index."""
    options = "" if indexed else "\n   :no-index:"
    return f"{title(module.__name__)}\n\n.. automodule:: {module.__name__}{options}"


def entry_page(entry: Entry) -> str:
    """Return the page of a name."""
    return f"{title(entry.path)}\n\n{directive(entry)}\n"


def directive(entry: Entry) -> str:
    """Let autodoc document a class or function; a constant has the comment that stands before it."""
    if isclass(entry.found):
        members = ", ".join(members_of(entry.found))
        special = "\n   :special-members: __call__" if calls(entry.found) else ""
        listed = f"\n   :members: {members}\n   :member-order: bysource" if members else ""
        undocumented = "\n   :undoc-members:" if issubclass(entry.found, Enum) else ""
        return f".. autoclass:: {entry.path}{listed}{special}{undocumented}"
    if isfunction(entry.found) or is_ours(type(entry.found).__module__):
        return f".. autofunction:: {entry.path}"
    text = documentation(entry.found, entry.name)
    return f".. py:data:: {entry.path}\n\n{block(text)}"


def is_ours(module: str) -> bool:
    """Check whether a module is of the four packages."""
    return module.partition(".")[0] in {root.__name__ for root in ROOTS}


def members_of(cls: type) -> list[str]:
    """Return the public methods and properties of a class that are ours: no fields, and nothing of pydantic."""
    found: dict[str, None] = {}
    for base in [base for base in cls.__mro__ if is_ours(base.__module__)]:
        for name, each in vars(base).items():
            if not name.startswith("_") and is_member(each):
                found.setdefault(name)
    decorators = vars(cls).get("__pydantic_decorators__")
    checks = {*decorators.model_validators, *decorators.field_validators} if decorators else set()
    if issubclass(cls, Enum):
        return [*cls.__members__, *found]
    return [name for name in found if name not in checks and not hasattr(BaseModel, name)]


def is_member(each: Any) -> bool:
    """Check whether an attribute is a method or a property."""
    return isfunction(each) or isinstance(each, property | classmethod | staticmethod | cached_property)


def calls(cls: type) -> bool:
    """Check whether objects of a class of ours can be called."""
    return any("__call__" in vars(base) for base in cls.__mro__ if is_ours(base.__module__))


def documentation(found: Any, name: str) -> str:
    """Return the docstring of an object; of a constant or a type's name, the comment that stands before it."""
    if isclass(found) or isfunction(found) or is_ours(type(found).__module__):
        return getdoc(found) or ""
    return comments().get(name, "")


@cache
def comments() -> dict[str, str]:
    """Return the comments of the constants of the four packages."""
    texts = [path.read_text("utf-8") for root in ROOTS for path in sorted(Path(root.__path__[0]).rglob("*.py"))]
    found = [each for text in texts for each in _COMMENT.finditer(text)]
    return {each["name"]: " ".join(each["text"].replace("#:", " ").split()) for each in found}


def module_summary(module: ModuleType) -> str:
    """Return the first sentence of a module's docstring."""
    return first_sentence(getdoc(module) or "")


def first_sentence(text: str) -> str:
    """Return the first paragraph of a docstring, in one line."""
    return escape(" ".join(text.partition("\n\n")[0].split()))


def summary_table(rows: list[tuple[str, str]]) -> str:
    """Return a table of names and what they are."""
    if not rows:
        return ""
    lines = [f"* - {name}\n  - {block(text, indent=4).strip()}" for name, text in rows]
    return f".. list-table::\n   :class: names\n   :widths: 30 70\n\n{block(*lines)}"


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: docutils.nodes.TextElement
) -> docutils.nodes.Element | None:
    """Find what a docstring names by the path of its module, or by a name that only one thing has."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    owner, _, member = target.rpartition(".")
    known = REFERENCE.find(target) or ((path := REFERENCE.find(owner)) and f"{path}.{member}")
    if known is None or known == target:
        return None
    python = env.domains.python_domain
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", known, node, content)


def unlink(_app: Sphinx, document: docutils.nodes.document) -> None:
    """Leave a name alone that several things have; Sphinx would take any of them."""
    for node in list(document.findall(pending_xref)):
        if len(REFERENCE.paths.get(node["reftarget"], ())) > 1:
            node.replace_self(node.children)


def check(_app: Sphinx, env: BuildEnvironment) -> None:
    """Complain about a name that is offered and that no page describes."""
    described = env.domains.python_domain.objects
    for entry in REFERENCE.entries.values():
        if entry.path not in described or described[entry.path].docname != f"reference/{entry.page}":
            _LOGGER.warning("%s is offered, and no page describes it", entry.path)


REFERENCE = Reference()


def write_pages(app: Sphinx) -> None:
    """Write the pages before Sphinx looks for them."""
    write(Path(app.srcdir) / "reference", REFERENCE.pages())


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages when the builder is there, and help the names in docstrings to them."""
    app.connect("builder-inited", write_pages)
    app.connect("doctree-read", unlink)
    app.connect("missing-reference", resolve)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
