"""Trust: the modules that a study may run, as study files may come from untrusted sources.

A study may run gsopt's own methods and policies, modules in the folder of the study file, and modules that the
user allows when running it. This restriction does not apply to methods named in a program, on the command line,
or by entry points of installed packages.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import invalidate_caches
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from gsopt.core.errors import InvalidInput, shorten

#: gsopt's own packages, from which a study may name only methods and policies, and the packages and module that
#: define methods and policies.
_OWN = frozenset({"formulations", "gsopt", "heuristics", "instances"})
_HOMES = frozenset({"formulations", "heuristics"})
_LIFTED = "gsopt.evaluation.lift"


@dataclass(frozen=True)
class Trust:
    """The modules that a study may name, in addition to gsopt's own."""

    folder: str = ""  # that contains the study's own modules
    allowed: tuple[str, ...] = ()  # further modules, each with its submodules

    @classmethod
    def of(cls, source: str | Path, allowed: Iterable[str] = ()) -> "Trust":
        """Trust the allowed modules, and those in the folder of the study file `source`.

        If `source` is empty, the working directory takes the place of that folder.
        """
        given = (allowed,) if isinstance(allowed, str) else tuple(allowed)
        for module in given:
            if not isinstance(module, str) or not _is_name(module):
                raise InvalidInput("allow", shorten(module), "must be the name of a module")
        folder = Path(source).absolute().parent if source else Path.cwd()
        return cls(str(folder.resolve()), given)

    def naming(self, module: str) -> "Trust":
        """Return this `Trust` with one more module allowed."""
        return replace(self, allowed=(*self.allowed, module))

    def refuse_module(self, module: str) -> None:
        """Raise `InvalidInput` for a module that the study must not name, without importing anything.

        If a module is found only in the folder of the study, that folder is added to the module search path.
        """
        package = module.partition(".")[0]
        if not _is_name(module):  # which cannot be imported
            return
        if package in _OWN or any(f"{module}.".startswith(f"{name}.") for name in self.allowed):
            return
        try:
            spec = find_spec(package) or self._beside(package)
        except ValueError:  # what runs as a program
            spec = None
        if spec is None or not self._holds(spec):
            rule = f"must be a module beside the study, or be allowed by --allow {package}"
            raise InvalidInput("", shorten(module), rule)

    def _beside(self, package: str) -> ModuleSpec | None:
        """Add the study's folder to the module search path if it contains a package, whose spec is returned."""
        places = (Path(self.folder, package), Path(self.folder, f"{package}.py"))
        if not self.folder or not any(place.exists() for place in places):
            return None
        if self.folder not in sys.path:
            sys.path.append(self.folder)
        invalidate_caches()
        return find_spec(package)

    def _holds(self, spec: ModuleSpec) -> bool:
        """Check whether a module, or every part of a package, is in the trusted folder."""
        places = spec.submodule_search_locations
        if places is None:
            places = [spec.origin] if spec.has_location and spec.origin else []
        found = [Path(place).resolve().parent for place in places]
        return bool(found) and all(folder == Path(self.folder) for folder in found)


def _is_name(module: str) -> bool:
    return all(part.isidentifier() for part in module.split("."))


def refuse_function(path: str, module: ModuleType, function: Callable[..., Any]) -> None:
    """Raise `InvalidInput` if a path into gsopt leads to a function that a study must not run.

    A study may run functions defined in `formulations` or `heuristics`, and policies turned into methods by
    `gsopt.evaluation.lift`. Other functions may write files, or run commands through modules that they import.
    """
    if module.__name__.partition(".")[0] not in _OWN:
        return
    home = str(getattr(function, "__module__", ""))
    if home.partition(".")[0] not in _HOMES and home != _LIFTED:
        raise InvalidInput("", shorten(path), "must be a method or policy of gsopt")


#: The current `Trust`, or None if any module may be named.
_trust: ContextVar[Trust | None] = ContextVar("trust", default=None)


def trusted() -> Trust | None:
    """Return the current `Trust`, or None if any module may be named."""
    return _trust.get()


@contextmanager
def trusting(trust: Trust) -> Iterator[None]:
    """Apply the given `Trust` inside the ``with`` block."""
    token = _trust.set(trust)
    try:
        yield
    finally:
        _trust.reset(token)
