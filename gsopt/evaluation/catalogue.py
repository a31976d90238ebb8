"""Catalogue: functions that find methods, policies, instances and readers by name.

This is the only module of gsopt that imports `formulations`, `heuristics` and `instances`. Other packages can
add methods and policies through entry points in the groups ``gsopt.methods`` (named ``decision/name``) and
``gsopt.policies``. If names clash, gsopt's own take precedence. Any other method or policy is named
``package.module:function``, or passed as a callable.
"""

import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import lru_cache, reduce
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from inspect import signature
from itertools import chain, count
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from gsopt.core.errors import InvalidInput, Unsupported, one_line, require_one_of, shorten
from gsopt.core.method import Method, MethodLike, name_of, proves
from gsopt.core.problem import Frozen, Problem
from gsopt.evaluation.lift import lift
from gsopt.evaluation.space import Space
from gsopt.evaluation.trust import Trust, refuse_function, trusted
from gsopt.problems.reader import problem_types
from gsopt.problems.scheduling import Scheduling
from gsopt.scenario.job import Workload
from gsopt.simulation.policy import Policy
from gsopt.solvers import backends

_METHODS, _POLICIES = "gsopt.methods", "gsopt.policies"

#: The folder that contains the four packages.
_HOME = Path(__file__).resolve().parents[2]


def load(name: str) -> Problem[Any]:
    """Load a committed instance by name, or any instance file by path.

    Raises
    ------
    InvalidInput
        The instance does not exist, or the file cannot be read or breaks a rule.

    Examples
    --------
    >>> load("reclaiming/aryl-figure-5").demand
    2
    """
    problem: Problem[Any] = _sibling("instances").load(name)
    return problem


def names(prefix: str = "") -> list[str]:
    """Return the names of the committed instances that start with the given prefix.

    Examples
    --------
    >>> "reclaiming/aryl-figure-5" in names("reclaiming")
    True
    """
    found: list[str] = _sibling("instances").names(prefix)
    return found


def best_solution(name: str) -> Frozen | None:
    """Return the best known solution of a committed instance, or None if none is stored."""
    found: Frozen | None = _sibling("instances").best_solution(name)
    return found


def instances_folder() -> Path:
    """Return the folder of the committed instances."""
    return Path(_sibling("instances").__path__[0])


def exact_methods(word: str) -> dict[str, Method]:
    """Return the exact methods for a decision, keyed by name.

    The method called ``exact`` is the default.
    """
    added = _added_methods(word).items()
    return _exports("formulations", word) | {name: each for name, each in added if proves(each)}


def heuristics(word: str) -> dict[str, Method]:
    """Return the heuristics for a decision, keyed by name.

    For scheduling, they include all `policies`, lifted to heuristics.
    """
    added = _added_methods(word).items()
    return own_heuristics(word) | {name: each for name, each in added if not proves(each)}


def own_heuristics(word: str) -> dict[str, Method]:
    """Return the heuristics for a decision that are part of gsopt, keyed by name."""
    return _exports("heuristics", word)


def methods(word: str) -> dict[str, Method]:
    """Return every method for a decision, keyed by name, with the exact methods first."""
    return exact_methods(word) | heuristics(word)


def generators(word: str) -> dict[str, Callable[..., Any]]:
    """Return a decision's instance generators, or the workload generators for ``workloads``, keyed by name."""
    return _named_exports("instances.workloads") if word == "workloads" else _exports("instances", word)


def spaces() -> dict[str, Callable[..., Space]]:
    """Return the functions that create spaces of small instances, keyed by names like ``scheduling/rigid``."""
    found: dict[str, Callable[..., Space]] = {}
    for word in problem_types():
        if find_spec(f"instances.{word}.spaces") is not None:
            made = _named_exports(f"instances.{word}.spaces")
            found |= {f"{word}/{name}": maker for name, maker in made.items()}
    return found


def policies() -> dict[str, Policy]:
    """Return the online policies that can be named without a path, keyed by name."""
    own = _named_exports("heuristics.policies")
    return own | {entry.name: _load(entry) for entry in _added(_POLICIES) if entry.name not in own}


def policy_paths() -> dict[str, str]:
    """Return the paths of the policies that are compared only on request, keyed by policy name."""
    return {name: f"heuristics.policies.{name}:{name}" for name in _sibling("heuristics.policies").OTHERS}


def trace_readers() -> dict[str, Callable[..., Any]]:
    """Return the readers of public traces, keyed by name."""
    return _named_exports("instances.traces")


def scenario_makers() -> dict[str, Callable[..., Any]]:
    """Return the functions that create whole scenarios, keyed by name.

    The first argument of each is the folder of public traces, or None.
    """
    return _named_exports("instances.scenarios")


def bracket_tables() -> dict[str, ModuleType]:
    """Return the modules with best known values of workloads (``scenarios``) and whole traces (``traces``)."""
    return {
        "scenarios": _sibling("instances.scenarios.best"),
        "traces": _sibling("instances.scenarios.whole"),
    }


def interference_readers() -> dict[str, Callable[..., Any]]:
    """Return the readers of published measurements of GPU sharing, keyed by name."""
    return _named_exports("instances.interference")


def data_folder() -> Path | None:
    """Return the folder of public traces that ``GSOPT_DATA`` names, or None if there is no such folder."""
    folder: Path | None = _sibling("instances").data_folder()
    return folder


def place_of(path: str | Path) -> str:
    """Return the path of a file in a form that is valid on other machines, if there is one.

    Paths in the data folder begin with ``$GSOPT_DATA``, and paths in the folder that contains the package
    `gsopt` are relative to that folder. Other paths are returned unchanged.
    """
    folder, file = data_folder(), Path(path)
    if folder is not None and file.is_relative_to(folder):
        return f"$GSOPT_DATA/{file.relative_to(folder).as_posix()}"
    return file.relative_to(_HOME).as_posix() if file.is_relative_to(_HOME) else str(path)


def real_instances(word: str) -> list[Problem[Any]]:
    """Return the instances of a decision that come from real data.

    The list is empty if the decision has no such instances, or if the environment variable ``GSOPT_DATA`` names
    no folder.
    """
    folder = data_folder()
    reader = getattr(_package("instances", word), "from_data", None)
    return [] if folder is None or reader is None else list(reader(folder))


def demo_workload() -> tuple[Workload, int]:
    """Return the workload on which ``gsopt demo --all`` compares policies, and the number of GPUs.

    The workload is a busy day of the Philly trace if the trace is available, and generated otherwise.
    """
    folder = data_folder()
    if folder is not None and (folder / "philly").is_dir():
        window = (50 * 86400.0, 51 * 86400.0)
        return trace_readers()["philly"](folder, window=window, max_gpus=128).workload, 128
    return generators("workloads")["poisson"](jobs=1000, gpus=32, load=1.0), 32


def find_method(word: str, method: MethodLike | str, *, field: str = "method") -> MethodLike:
    """Return a method for a decision, given its name, a path ``package.module:function``, or a callable.

    A formulation class is replaced by an instance of it. A callable whose first parameter is called ``state``
    is a policy: it is lifted to a heuristic for scheduling, and rejected for other decisions. Error messages
    refer to the method as `field`.
    """
    found: MethodLike = _find(field, method, lambda: methods(word))
    if isinstance(found, type) and _is_formulation(found):
        formulation: MethodLike = found()
        return formulation
    if not _is_policy(found):
        return found
    if word != Scheduling.word:
        rule = f"is a policy, which decides over time; {word} has none"
        raise InvalidInput(field, name_of(found), rule)
    return lift(found)


def find_policy(policy: Policy | str, *, field: str = "policy") -> Policy:
    """Return a policy, given its name, a path ``package.module:function``, or a callable."""
    found: Policy = _find(field, policy, policies)
    return found


def _is_policy(function: Callable[..., Any]) -> bool:
    try:
        return next(iter(signature(function).parameters), "") == "state"
    except (TypeError, ValueError):  # built into Python without a signature
        return False


def _is_formulation(kind: type) -> bool:
    from gsopt.solvers.formulation import Formulation  # solvers load slowly

    return issubclass(kind, Formulation)


def find_backend(backend: Any, *, field: str = "backend") -> backends.Backend:
    """Return a backend, given its name or the backend itself."""
    if not isinstance(backend, str):
        given: backends.Backend = backend
        return given
    known = {kind.name: kind for kind in backends.SOLVERS}
    require_one_of(field, backend, known)
    return known[backend]()


def is_path(name: str) -> bool:
    """Check whether a name is a path such as ``package.module:function``, that is, contains a colon."""
    return ":" in name


def short_names(names: Iterable[str], others: Iterable[str] = ()) -> dict[str, str]:
    """Return a short name for each path: the function's name, or the path itself if that name is not unique.

    A function's name that is in `others` does not count as unique.

    Examples
    --------
    >>> short_names(["fifo", "grace:Grace", "mine:fifo"])
    {'fifo': 'fifo', 'grace:Grace': 'Grace', 'mine:fifo': 'mine:fifo'}
    """
    own = {name: name.rpartition(":")[2] for name in names}
    counts = Counter([*own.values(), *(set(others) - own.keys())])
    return {name: short if counts[short] == 1 else name for name, short in own.items()}


def free_name(name: str, taken: Container[str]) -> str:
    """Return the given name, with a number appended if the name is already taken."""
    names = chain([name], (f"{name} ({number})" for number in count(2)))
    return next(each for each in names if each not in taken)


def _find(kind: str, wanted: Any, known: Callable[[], Mapping[str, Any]]) -> Any:
    if callable(wanted):
        return wanted
    if not isinstance(wanted, str):
        raise InvalidInput(kind, shorten(wanted), "must be a name or a callable")
    if is_path(wanted):
        return _trusted(kind, wanted)
    offered = known()
    if wanted not in offered:
        raise InvalidInput(kind, shorten(wanted), rule_of_names(wanted, offered))
    return offered[wanted]


def rule_of_names(wanted: str, offered: Iterable[str]) -> str:
    """Return an error message that lists the valid names and, for a likely typo, suggests the right one."""
    written = {name: name for name in offered}
    rule = f"must be one of {', '.join(written)}, or package.module:function"
    if not written.keys().isdisjoint(_named_exports("heuristics.policies")):
        written = policy_paths() | written
    meant = get_close_matches(wanted.lower(), written, n=1)
    return f"{rule}; did you mean {written[meant[0]]}?" if meant else rule


def _trusted(kind: str, path: str) -> Any:
    """Import the object at ``package.module:function``, if the current `Trust` allows it."""
    trust = trusted()
    if trust is None:
        return _imported(kind, path)
    refuse_untrusted(trust, kind, path)
    found = _imported(kind, path)
    with _naming(kind, path):
        refuse_function(path, sys.modules[_module_of(path)], found)
    return found


def _module_of(path: str) -> str:
    """Return the name of the module in a path.

    For a policy in a subfolder, the path ``heuristics.policies.x:x`` is valid too.
    """
    module, _, function = path.partition(":")
    if module != f"heuristics.policies.{function}":
        return module
    policies_package = _sibling("heuristics.policies")
    if function in policies_package.OTHERS:
        return str(policies_package.OTHERS[function])
    return policies_package.__name__ if function in policies_package.__all__ else module


def refuse_untrusted(trust: Trust, kind: str, path: str) -> None:
    """Raise `InvalidInput` if a path refers to a module that a study must not name, without importing it."""
    with _naming(kind, path):
        trust.refuse_module(path.partition(":")[0])


@contextmanager
def _naming(kind: str, path: str) -> Iterator[None]:
    """Add the field and path of a method or policy to any `InvalidInput` that rejects it."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(kind, shorten(path), error.rule) from None


def _imported(kind: str, path: str) -> Any:
    """Import the object at ``package.module:function``."""

    def refuse(rule: str) -> NoReturn:
        raise InvalidInput(kind, shorten(path), rule) from None

    module, name = _module_of(path), path.partition(":")[2]
    if not all(part.isidentifier() for part in [*module.split("."), *name.split(".")]):
        refuse("must be package.module:function")
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            refuse(f"{module} cannot be imported: {one_line(error)}")
        refuse(f"there is no module {error.name}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - it is somebody's module
        refuse(f"{module} cannot be imported: {one_line(error)}")
    try:
        function = reduce(getattr, name.split("."), found)
    except AttributeError:
        refuse(f"{module} has no {name}")
    if not callable(function):
        refuse(f"must be a function, not {shorten(function)}")
    return function


def _added(group: str) -> tuple[EntryPoint, ...]:
    return entry_points_of(group, tuple(sys.path))


@lru_cache(maxsize=8)
def entry_points_of(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group.

    The search is slow, so the result is cached for each module search path.
    """
    del path
    return tuple(entry_points(group=group))


def _added_methods(word: str) -> dict[str, Method]:
    """Return the methods for a decision that other packages add, keyed by name.

    For scheduling, these include their policies.
    """
    found: dict[str, Method] = {}
    for entry in _added(_METHODS):
        decision, slash, name = entry.name.partition("/")
        if not slash or decision not in problem_types():
            rule = "must be named decision/name, such as reclaiming/mine"
            raise InvalidInput(f"entry point {_METHODS}", shorten(entry.name), rule, source=entry.value)
        if decision == word:
            found[name] = _load(entry)
    if word == Scheduling.word:
        found |= {entry.name: lift(_load(entry)) for entry in _added(_POLICIES)}
    own = _exports("formulations", word).keys() | own_heuristics(word).keys()
    return {name: method for name, method in found.items() if name not in own}


def _load(entry: EntryPoint) -> Any:
    """Load an entry point.

    If that fails, return a function that raises the error when it is called. Other entry points then still
    work.
    """
    try:
        return _imported("entry point", f"{entry.module}:{entry.attr}")
    except InvalidInput as error:
        line = f"entry point {entry.name} of {entry.group}: {entry.value}: {error.rule}"

    def unloaded(*_: Any, **options: Any) -> NoReturn:
        del options
        raise Unsupported(line)

    unloaded.__name__ = entry.name.rpartition("/")[2]
    return unloaded


def _exports(package: str, word: str) -> dict[str, Any]:
    module = _package(package, word)
    return {} if module is None else _named_exports(module.__name__)


def _named_exports(package: str) -> dict[str, Any]:
    module = _sibling(package)
    return {name: getattr(module, name) for name in module.__all__}


def _package(package: str, word: str) -> ModuleType | None:
    require_one_of("decision", word, sorted(problem_types()))
    _refuse_shadow(package)
    name = f"{package}.{word}"
    return import_module(name) if find_spec(name) else None


def _sibling(name: str) -> ModuleType:
    """Import one of gsopt's sibling packages, or a module in it."""
    _refuse_shadow(name.partition(".")[0])
    return import_module(name)


def _refuse_shadow(package: str) -> None:
    """Raise `InvalidInput` if a user's file would be imported in place of a sibling package of gsopt."""
    spec = find_spec(package)
    if spec is None:
        raise InvalidInput(package, "", f"must be installed beside gsopt, in {_HOME}")
    found = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    ours = _HOME / package / "__init__.py"
    if not any(Path(each).resolve() == ours for each in found):
        rule = f"hides the package {package} of gsopt; rename it, or move it elsewhere"
        raise InvalidInput("", "", rule, source=", ".join(found))
