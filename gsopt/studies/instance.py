"""Instance: the entries of a study file, resolved to instances that any process can load."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gsopt.core.budget import checked_time_limit
from gsopt.core.errors import InvalidInput, require_one_of, shorten
from gsopt.core.files import first_error, read_data, read_text
from gsopt.core.numbers.span import read_window
from gsopt.core.problem import Problem
from gsopt.evaluation import catalogue
from gsopt.evaluation.ratio import Optima
from gsopt.evaluation.space import Part
from gsopt.problems.reader import read_problem
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.studies.grid import Label, Point
from gsopt.studies.options import known_options, typed
from gsopt.studies.settings import KEYS, Setting, setting_of

#: Options that distinguish the repetitions of an instance, which together form one group.
REPEATING = ("seed", "number", "window")

#: Plain JSON that defines an instance completely.
Definition = Mapping[str, Any]

#: A scenario, and the seconds between decisions, or None to decide at every event.
Simulated = tuple[Scenario, float | None]

#: Default number of instances of a space that a cell tries.
_PART = 1000


@dataclass(frozen=True)
class StudyInstance:
    """An instance in a study.

    `load` may be called in any process. It returns a problem, an `Excerpt` of a space, or a scenario to
    simulate together with the seconds between decisions. It raises `InvalidInput` if a generator rejects its
    arguments, a file cannot be read, or a problem has changed since the study was read.
    """

    definition: Definition  # changes when the instance does
    word: str  # name of the decision; empty for a workload on which policies are simulated
    group: Label  # name of the group of instances that repeat each other
    name: Label
    options: Mapping[str, Any]
    load: Callable[[], Any]


@dataclass(frozen=True, eq=False)
class Excerpt:
    """A part of a space of instances to enumerate, or a whole space with the seconds for which to search it."""

    optima: Optima  # of the space, kept for the next method
    part: Part | None
    seconds: float | None
    seed: int


def instances_of(point: Point) -> Iterator[StudyInstance]:
    """Yield the instances of one point of an entry: possibly several for a suite or a space, otherwise one."""
    kinds: dict[str, Callable[[Point], Iterator[StudyInstance]]] = {
        "instance": _named,
        "generator": _generated,
        "reader": _read,
        "workload": _workload,
        "scenario": _scenario,
        "space": _space,
    }
    found = [kind for kind in kinds if kind in point.values]
    if "generator" in found:  # its options may have the names of the other keys
        found = ["generator"]
    if len(found) != 1:
        raise InvalidInput("", "", f"must have one of the keys {', '.join(kinds)}")
    kind = found[0]
    if not isinstance(point.values[kind], str):
        raise InvalidInput(kind, shorten(point.values[kind]), "must be a name")
    yield from kinds[kind](point)


def generate(generator: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """Call a generator with options read from JSON."""
    return _call(generator, typed(generator, options))


def workload_of(reading: Any, source: str) -> Workload:
    """Return the workload in a reader's result.

    Raise `InvalidInput` if there were rows but none was usable, for example in a trace of another kind.
    """
    workload: Workload = reading.workload
    if reading.dropped and not workload.jobs:
        first = reading.dropped[0]
        rule = f"has no row that can be used; row {first.row}: {first.reason}"
        raise InvalidInput("", "", rule, source=source)
    return workload


def _named(point: Point) -> Iterator[StudyInstance]:
    name = point.values["instance"]
    _refuse_further(point, ("instance",))
    suite = [] if Path(name).is_file() else catalogue.names(f"{name.rstrip('/')}/")
    base = Label(point.label or name.rstrip("/"), {})
    for member in suite or [name]:
        problem = _file_or_committed(member)
        definition = {"instance": member, "digest": _digest_of(problem)}
        load = partial(_load_unchanged, **definition)
        yield StudyInstance(definition, problem.word, base, Label(member, {}), {}, load)


def _load_unchanged(instance: str, digest: str) -> Problem[Any]:
    problem = _file_or_committed(instance)
    if _digest_of(problem) != digest:
        raise InvalidInput("", "", "was changed while the study ran", source=instance)
    return problem


def _generated(point: Point) -> Iterator[StudyInstance]:
    full = point.values["generator"]
    word, slash, name = full.partition("/")
    if not slash:
        raise InvalidInput(
            "generator", shorten(full), "must be DECISION/NAME; workloads go under the key workload"
        )
    known = {f"{word}/{each}": made for each, made in catalogue.generators(word).items()}
    require_one_of("generator", full, known)
    options = _without(point, "generator")
    load = partial(_load_generated, word, name, typed(known[full], options))
    yield _instance(point, full, {"generator": full, "options": options}, load, word)


def _load_generated(word: str, name: str, arguments: Mapping[str, Any]) -> Any:
    return _call(catalogue.generators(word)[name], arguments)


def _read(point: Point) -> Iterator[StudyInstance]:
    name, path = point.values["reader"], point.values.get("path")
    known = catalogue.trace_readers()
    require_one_of("reader", name, known)
    setting = setting_of(point.values)
    options = _without(point, "reader", "path", *KEYS)
    if "gpus" in known_options(known[name]):
        options["gpus"] = setting.machines.gpus
    arguments = typed(known[name], {**options, **_window(options)})
    _refuse_no_data("reader", point, wanted=True)
    definition = {"reader": name, "path": path, "options": options, "setting": setting.as_dict()}
    load = partial(_load_workload, setting, partial(_load_trace, name, path, arguments, setting.machines.gpus))
    yield _instance(point, name, definition, load)


def _load_trace(name: str, path: str | None, arguments: Mapping[str, Any], max_gpus: int) -> Workload:
    source = path or catalogue.data_folder()
    reading = catalogue.trace_readers()[name](source, **{"max_gpus": max_gpus, **arguments})
    return workload_of(reading, str(source))


def _window(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the option `window` of a reader if it is given as text, such as 30d:31d, converted to seconds."""
    text = options.get("window")
    return {"window": read_window(text)} if isinstance(text, str) else {}


def _workload(point: Point) -> Iterator[StudyInstance]:
    name = point.values["workload"]
    known = catalogue.generators("workloads")
    setting = setting_of(point.values)
    load: Callable[[], Workload]
    if name in known:
        options = _without(point, "workload", *KEYS)
        if "gpus" in known_options(known[name]):
            options["gpus"] = setting.machines.gpus
        load = partial(_load_generated, "workloads", name, typed(known[name], options))
        definition = {"workload": name, "options": options}
    elif name.endswith(".json") or Path(name).is_file():
        _refuse_further(point, ("workload", *KEYS))
        load = partial(read_data, Workload, name)
        load()
        definition = {"workload": name, "digest": sha256(read_text(name).encode()).hexdigest()}
    else:
        rule = f"must be a workload file, or one of {', '.join(known)}"
        raise InvalidInput("workload", shorten(name), rule)
    definition["setting"] = setting.as_dict()
    yield _instance(point, name, definition, partial(_load_workload, setting, load))


def _load_workload(setting: Setting, load: Callable[[], Workload]) -> Simulated:
    return setting.scenario(load()), setting.round_length


def _scenario(point: Point) -> Iterator[StudyInstance]:
    name, values = point.values["scenario"], point.values
    path, real, length = (values.get(key) for key in ("path", "real", "round_length"))
    known = catalogue.scenario_makers()
    require_one_of("scenario", name, known)
    if not isinstance(real, bool | None):
        raise InvalidInput("real", shorten(real), "must be true or false")
    _refuse_no_data("real" if real else "path", point, wanted=bool(real))
    options = _without(point, "scenario", "path", "real", "round_length")
    arguments = typed(known[name], options)
    definition = {"scenario": name, "path": path, "real": bool(real), "options": options}
    if length is not None:
        definition["round_length"] = length = setting_of({"gpus": 1, "round_length": length}).round_length
    load = partial(_load_scenario, name, path, arguments, length, real=bool(real))
    yield _instance(point, name, definition, load)


def _load_scenario(
    name: str, path: str | None, arguments: Mapping[str, Any], round_length: float | None, *, real: bool
) -> Simulated:
    folder = path or (catalogue.data_folder() if real else None)
    return _call(catalogue.scenario_makers()[name], arguments, folder), round_length


def _space(point: Point) -> Iterator[StudyInstance]:
    """Yield the parts of a space or, for a genetic search, the whole space."""
    full = point.values["space"]
    known = catalogue.spaces()
    require_one_of("space", full, known)
    options = _without(point, "space", "search", "seed", "part")
    search, seed = point.values.get("search"), point.values.get("seed", 0)
    length = point.values.get("part", _PART)
    if not isinstance(length, int) or isinstance(length, bool) or length < 1:
        raise InvalidInput("part", shorten(length), "must be a number of instances, at least 1")
    if not isinstance(seed, int):
        raise InvalidInput("seed", shorten(seed), "must be an integer")
    arguments = typed(known[full], options)
    space = _call(known[full], arguments)
    definition = {"space": full, "options": options}
    group, word = point.name(full, options), space.word
    if search is not None:
        limit = checked_time_limit(search, "search")
        name = Label(f"{group}, seed {seed}", {})
        whole = {**definition, "search": limit, "seed": seed}
        load: Callable[[], Any] = partial(_load_space, full, arguments, None, limit, seed)
        yield StudyInstance(whole, word, group, name, {**options, "seed": seed}, load)
        return
    for part in space.parts(length):
        name = Label(f"{group}, {part}", {})
        load = partial(_load_space, full, arguments, part, None, 0)
        yield StudyInstance({**definition, "part": list(part)}, word, group, name, options, load)


def _load_space(
    full: str, arguments: Mapping[str, Any], part: Part | None, seconds: float | None, seed: int
) -> Excerpt:
    space = _call(catalogue.spaces()[full], arguments)
    exact = catalogue.find_method(space.word, space.method)
    return Excerpt(Optima(space, exact), part, seconds, seed)


def _call(generator: Callable[..., Any], arguments: Mapping[str, Any], *given: Any) -> Any:
    try:
        return generator(*given, **arguments)
    except ValidationError as error:  # data that a generator made of its arguments
        raise first_error(generator.__name__, error) from None


def _refuse_no_data(field: str, point: Point, *, wanted: bool) -> None:
    """Raise `InvalidInput` if a path does not exist, or if public data are requested without a data folder."""
    path = point.values.get("path")
    if path is None and wanted and catalogue.data_folder() is None:
        rule = "needs real data: give a path, or name their folder in the environment variable GSOPT_DATA"
        raise InvalidInput(field, shorten(point.values[field]), rule)
    if path is not None and not (isinstance(path, str) and Path(path).exists()):
        raise InvalidInput("path", shorten(path), "must be the file or folder of a trace")


def _instance(
    point: Point, base: str, definition: Definition, load: Callable[[], Any], word: str = ""
) -> StudyInstance:
    kinds = ("generator",) if "generator" in point.values else ("reader", "workload", "scenario")
    options = _without(point, *kinds)
    leaving = [key for key in REPEATING if key in point.spanned]
    group, name = point.name(base, options, leaving=leaving), point.name(base, options)
    return StudyInstance(definition, word, group, name, options, load)


def _without(point: Point, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in point.values.items() if key not in keys}


def _refuse_further(point: Point, known: tuple[str, ...]) -> None:
    for key, value in _without(point, *known).items():
        raise InvalidInput(key, shorten(value), "is not an option of a file or committed instance")


def _file_or_committed(name: str) -> Problem[Any]:
    return read_problem(name) if Path(name).is_file() else catalogue.load(name)


def _digest_of(problem: Problem[Any]) -> str:
    """Return a hash of an instance's data, excluding its `about`."""
    data = problem.model_dump(mode="json", exclude={"about"})
    return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
