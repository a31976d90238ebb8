"""Trust: whose code a study may run, as its file may come from anybody.

gsopt's own methods, the modules that lie beside the study's file, and those that are named when it is run. A
program, and whoever types a command, may name any module; so may the entry points of installed packages.
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

#: gsopt's own packages, of which methods and policies alone are to be named; and where these are made.
_OWN = frozenset({"formulations", "gsopt", "heuristics", "instances"})
_HOMES = frozenset({"formulations", "heuristics"})
_LIFTED = "gsopt.evaluation.lift"


@dataclass(frozen=True)
class Trust:
    """The modules that a study may name, beside gsopt's own."""

    folder: str = ""  # that of the modules which the study brings
    allowed: tuple[str, ...] = ()  # others, each with all that is within it

    @classmethod
    def of(cls, source: str | Path, allowed: Iterable[str] = ()) -> "Trust":
        """Trust what lies beside a study's file, or in the working directory where there is none."""
        given = (allowed,) if isinstance(allowed, str) else tuple(allowed)
        for module in given:
            if not isinstance(module, str) or not _is_name(module):
                raise InvalidInput("allow", shorten(module), "must be the name of a module")
        folder = Path(source).absolute().parent if source else Path.cwd()
        return cls(str(folder.resolve()), given)

    def naming(self, module: str) -> "Trust":
        """Allow one more module, which has been found in its place."""
        return replace(self, allowed=(*self.allowed, module))

    def refuse_module(self, module: str) -> None:
        """Refuse a module that the study may not name, without importing anything.

        A module that lies beside the study is looked for there, too, from now on.
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
        """Have Python look beside the study too, behind all other places, if the module is there."""
        places = (Path(self.folder, package), Path(self.folder, f"{package}.py"))
        if not self.folder or not any(place.exists() for place in places):
            return None
        if self.folder not in sys.path:
            sys.path.append(self.folder)
        invalidate_caches()
        return find_spec(package)

    def _holds(self, spec: ModuleSpec) -> bool:
        """Check whether all of a module or package lies in the folder."""
        places = spec.submodule_search_locations
        if places is None:
            places = [spec.origin] if spec.has_location and spec.origin else []
        found = [Path(place).resolve().parent for place in places]
        return bool(found) and all(folder == Path(self.folder) for folder in found)


def _is_name(module: str) -> bool:
    return all(part.isidentifier() for part in module.split("."))


def refuse_function(path: str, module: ModuleType, function: Callable[..., Any]) -> None:
    """Refuse what is found in gsopt's own packages and is neither a method nor a policy of gsopt.

    They have functions that write files, and import others that run commands.
    """
    if module.__name__.partition(".")[0] not in _OWN:
        return
    home = str(getattr(function, "__module__", ""))
    if home.partition(".")[0] not in _HOMES and home != _LIFTED:
        raise InvalidInput("", shorten(path), "must be a method or policy of gsopt")


#: What is trusted at present; None where any module may be named.
_trust: ContextVar[Trust | None] = ContextVar("trust", default=None)


def trusted() -> Trust | None:
    """Return what is trusted at present; None where any module may be named."""
    return _trust.get()


@contextmanager
def trusting(trust: Trust) -> Iterator[None]:
    """Trust no more than this within."""
    token = _trust.set(trust)
    try:
        yield
    finally:
        _trust.reset(token)
