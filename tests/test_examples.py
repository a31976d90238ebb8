"""Whatever a user calls or constructs has an example that runs."""

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc, isclass, ismodule
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import formulations
import gsopt
import heuristics
import instances


def offered_modules() -> Iterator[ModuleType]:
    """Yield every package, and the modules that gsopt exports."""
    yield from (found for name in gsopt.__all__ if ismodule(found := getattr(gsopt, name)))
    for root in (gsopt, formulations, heuristics, instances):
        yield from packages(root)


def packages(root: ModuleType) -> Iterator[ModuleType]:
    """Yield a package and those within it."""
    yield root
    for found in iter_modules(root.__path__, f"{root.__name__}."):
        if found.ispkg:
            yield from packages(import_module(found.name))


def offers(module: ModuleType) -> dict[str, Any]:
    """Return what a module exports to be called or constructed, and the other ways to construct that."""
    own = [name for name, each in vars(module).items() if getattr(each, "__module__", "") == module.__name__]
    public = [] if hasattr(module, "__path__") else [name for name in own if not name.startswith("_")]
    names = getattr(module, "__all__", public)
    exported = {f"{module.__name__}.{name}": getattr(module, name) for name in names}
    called = {name: each for name, each in exported.items() if is_called(each)}
    ways = {
        f"{name}.{way}": made.__func__
        for name, each in called.items()
        if isclass(each)
        for way, made in vars(each).items()
        if isinstance(made, classmethod) and not way.startswith("_")
    }
    return called | ways


def is_called(found: Any) -> bool:
    """Check whether a user calls or constructs it; protocols are implemented instead, aliases name types."""
    is_alias = hasattr(found, "__origin__")
    return callable(found) and not is_alias and not getattr(found, "_is_protocol", False)


def without_example(offered: dict[str, Any]) -> list[str]:
    """Name what has no example."""
    return [name for name, found in offered.items() if ">>>" not in (getdoc(found) or "")]


def test_everything_that_is_offered_has_an_example() -> None:
    """What a package exports to be called or constructed shows how; doctests run it."""
    offered = {name: found for module in offered_modules() for name, found in offers(module).items()}
    assert without_example(offered) == []
    assert len(offered) > 180
    some = "gsopt.simulate", "gsopt.Cluster.plain", "gsopt.testing.check_policy", "heuristics.policies.srtf"
    assert offered.keys() > set(some)


def test_what_has_no_example_is_named() -> None:
    """A function and a way to construct without example are found, and one with an example is not."""

    class Shown:
        """Do nothing.

        >>> Shown()
        """

        @classmethod
        def made(cls) -> "Shown":
            """Make one."""
            return cls()

    module = ModuleType("planted")
    vars(module).update(Shown=Shown, bare=lambda: None, __all__=["Shown", "bare"])
    assert without_example(offers(module)) == ["planted.bare", "planted.Shown.made"]


def test_docstrings_begin_with_the_usual_verbs() -> None:
    """A docstring says "Return" and "Check", as readers of numpydoc expect, and neither "Give" nor "Tell"."""
    root = Path(gsopt.__file__).parents[1]
    packages = ("gsopt", "formulations", "heuristics", "instances")
    files = [path for name in packages for path in root.glob(f"{name}/**/*.py")]
    assert [path for path in files if re.search(r'"""(Give|Tell)s? ', path.read_text(encoding="utf-8"))] == []


def test_headings_of_docstrings_stand_on_lines_of_their_own() -> None:
    """No heading of a docstring has been joined with the text below it."""
    root = Path(gsopt.__file__).parents[1]
    packages = ("gsopt", "formulations", "heuristics", "instances")
    files = [path for name in packages for path in root.glob(f"{name}/**/*.py")]
    joined = re.compile(r"^ *[A-Z][a-z]+ -{4,} ", re.MULTILINE)
    assert [path for path in files if joined.search(path.read_text(encoding="utf-8"))] == []
