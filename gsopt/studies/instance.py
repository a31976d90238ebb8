"""Instance: what a cell is computed on; from a file's entry to its definition, and from there to the data."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import first_error, read_data, read_text
from gsopt.core.problem import Problem
from gsopt.evaluation import catalogue
from gsopt.problems.reader import read_problem
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.studies.grid import Label, Point
from gsopt.studies.options import known_options, typed
from gsopt.studies.settings import KEYS, Setting, setting_of
from gsopt.studies.window import window

#: Options by which instances repeat each other: one group holds all of their values.
REPEATING = ("seed", "number", "window")

#: Plain JSON that says all there is to say about an instance.
Definition = Mapping[str, Any]


@dataclass(frozen=True)
class StudyInstance:
    """An instance of a study.

    Attributes
    ----------
    definition
        Plain JSON from which it can be loaded, and which changes when the instance does.
    word
        The decision; empty for a workload on a cluster, on which policies decide.
    group, name
        What tables call the instances that repeat each other, and this one.
    options
        Its options, by which tables can be split.
    """

    definition: Definition
    word: str
    group: Label
    name: Label
    options: Mapping[str, Any]


def instances_of(point: Point) -> Iterator[StudyInstance]:
    """Yield the instances that one point of an entry names: several for a suite, otherwise one.

    Raises
    ------
    InvalidInput
        There is no such instance, generator, reader or option, or the data are not at hand.
    """
    kinds: dict[str, Callable[[Point], Iterator[StudyInstance]]] = {
        "instance": _named,
        "generator": _generated,
        "reader": _read,
        "workload": _workload,
        "scenario": _scenario,
    }
    found = [kind for kind in kinds if kind in point.values]
    if len(found) != 1:
        raise InvalidInput("", "", "", f"must have one of the keys {', '.join(kinds)}")
    kind = found[0]
    if not isinstance(point.values[kind], str):
        raise InvalidInput("", kind, shorten(point.values[kind]), "must be a name")
    yield from kinds[kind](point)


def load_problem(definition: Definition) -> Problem[Any]:
    """Load the instance of a decision.

    Raises
    ------
    InvalidInput
        The generator refuses its arguments, or the file is no longer what it was.
    """
    if "generator" in definition:
        word, _, name = definition["generator"].partition("/")
        problem: Problem[Any] = generate(catalogue.generators(word)[name], definition["options"])
        return problem
    name = definition["instance"]
    problem = _file_or_committed(name)
    if _digest_of(problem) != definition["digest"]:
        raise InvalidInput(name, "", "", "was changed while the study ran")
    return problem


def load_scenario(definition: Definition) -> tuple[Scenario, float | None]:
    """Load a workload on its cluster, and the seconds between decisions; None at every event.

    Raises
    ------
    InvalidInput
        The trace cannot be read, or a job fits in no way.
    """
    if "scenario" in definition:
        maker = catalogue.scenario_makers()[definition["scenario"]]
        path = definition["path"] or (catalogue.data_folder() if definition["real"] else None)
        return generate(maker, definition["options"], path), definition.get("round_length")
    setting = setting_of(definition["setting"])
    return setting.scenario(_load_workload(definition, setting)), setting.round_length


def _load_workload(definition: Definition, setting: Setting) -> Workload:
    if "reader" in definition:
        reader = catalogue.trace_readers()[definition["reader"]]
        path = definition["path"] or catalogue.data_folder()
        options = {"max_gpus": setting.machines.gpus} | _read_options(reader, definition["options"])
        return workload_of(reader(path, **options), str(path))
    if "digest" in definition:
        return read_data(Workload, definition["workload"])
    made: Workload = generate(catalogue.generators("workloads")[definition["workload"]], definition["options"])
    return made


def workload_of(reading: Any, source: str) -> Workload:
    """Return the workload of what a reader has read.

    Raises
    ------
    InvalidInput
        Not one of its rows could be used, so it is no such trace.
    """
    workload: Workload = reading.workload
    if reading.dropped and not workload.jobs:
        first = reading.dropped[0]
        rule = f"has no row that can be used; row {first.row}: {first.reason}"
        raise InvalidInput(source, "", "", rule)
    return workload


def generate(generator: Callable[..., Any], options: Mapping[str, Any], *given: Any) -> Any:
    """Call a generator with options as they are read from JSON, after what else is given to it.

    Raises
    ------
    InvalidInput
        There is no such option, or the generator refuses its value.
    """
    try:
        return generator(*given, **typed(generator, options))
    except ValidationError as error:  # data that a generator made of its arguments
        raise first_error(generator.__name__, error) from None


def _named(point: Point) -> Iterator[StudyInstance]:
    name = point.values["instance"]
    _refuse_further(point, ("instance",))
    suite = [] if Path(name).is_file() else catalogue.names(f"{name.rstrip('/')}/")
    base = Label(point.label or name.rstrip("/"), {})
    for member in suite or [name]:
        problem = _file_or_committed(member)
        definition = {"instance": member, "digest": _digest_of(problem)}
        yield StudyInstance(definition, problem.word, base, Label(member, {}), {})


def _generated(point: Point) -> Iterator[StudyInstance]:
    full = point.values["generator"]
    word = full.partition("/")[0]
    known = {f"{word}/{each}": made for each, made in catalogue.generators(word).items()}
    if full not in known:
        raise InvalidInput("", "generator", shorten(full), f"must be one of {', '.join(known)}")
    options = {key: value for key, value in point.values.items() if key != "generator"}
    typed(known[full], options)
    yield _instance(point, full, {"generator": full, "options": options}, word)


def _read(point: Point) -> Iterator[StudyInstance]:
    name = point.values["reader"]
    known = catalogue.trace_readers()
    if name not in known:
        raise InvalidInput("", "reader", shorten(name), f"must be one of {', '.join(known)}")
    options = {key: value for key, value in point.values.items() if key not in ("reader", "path", *KEYS)}
    if "gpus" in known_options(known[name]):
        options["gpus"] = setting_of(point.values).machines.gpus
    _read_options(known[name], options)
    _refuse_no_data("reader", point, wanted=True)
    definition = {
        "reader": name,
        "path": point.values.get("path"),
        "options": options,
        "setting": _setting(point),
    }
    yield _instance(point, name, definition)


def _workload(point: Point) -> Iterator[StudyInstance]:
    name = point.values["workload"]
    known = catalogue.generators("workloads")
    setting = setting_of(point.values)
    if name in known:
        options = {key: value for key, value in point.values.items() if key not in ("workload", *KEYS)}
        if "gpus" in known_options(known[name]):
            options["gpus"] = setting.machines.gpus
        typed(known[name], options)
        definition = {"workload": name, "options": options, "setting": _setting(point)}
    elif name.endswith(".json") or Path(name).is_file():
        _refuse_further(point, ("workload", *KEYS))
        read_data(Workload, name)
        digest = sha256(read_text(name).encode()).hexdigest()
        definition = {"workload": name, "digest": digest, "setting": _setting(point)}
    else:
        rule = f"must be a workload file, or one of {', '.join(known)}"
        raise InvalidInput("", "workload", shorten(name), rule)
    yield _instance(point, name, definition)


def _scenario(point: Point) -> Iterator[StudyInstance]:
    name, path, real = (point.values.get(key) for key in ("scenario", "path", "real"))
    known = catalogue.scenario_makers()
    if name not in known:
        raise InvalidInput("", "scenario", shorten(name), f"must be one of {', '.join(known)}")
    if not isinstance(real, bool | None):
        raise InvalidInput("", "real", shorten(real), "must be true or false")
    _refuse_no_data("real" if real else "path", point, wanted=bool(real))
    own = ("scenario", "path", "real", "round_length")
    options = {key: value for key, value in point.values.items() if key not in own}
    typed(known[name], options)
    definition = {"scenario": name, "path": path, "real": bool(real), "options": options}
    if (length := point.values.get("round_length")) is not None:
        definition["round_length"] = setting_of({"gpus": 1, "round_length": length}).round_length
    yield _instance(point, name, definition)


def _refuse_no_data(field: str, point: Point, *, wanted: bool) -> None:
    """Refuse a path that is none, or that none is given where real data are wanted and no folder is named."""
    path = point.values.get("path")
    if path is None and wanted and catalogue.data_folder() is None:
        rule = "needs real data: give a path, or name their folder in the environment variable GSOPT_DATA"
        raise InvalidInput("", field, shorten(point.values[field]), rule)
    if path is not None and not (isinstance(path, str) and Path(path).exists()):
        raise InvalidInput("", "path", shorten(path), "must be the file or folder of a trace")


def _instance(point: Point, base: str, definition: Definition, word: str = "") -> StudyInstance:
    kinds = ("generator", "reader", "workload", "scenario")
    options = {key: value for key, value in point.values.items() if key not in kinds}
    return StudyInstance(
        definition,
        word,
        group=point.name(base, options, leaving=[key for key in REPEATING if key in point.spanned]),
        name=point.name(base, options),
        options=options,
    )


def _setting(point: Point) -> dict[str, Any]:
    return setting_of(point.values).model_dump(mode="json", exclude_defaults=True)


def _read_options(reader: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reader's options typed; a window may be written as on the command line, such as 30d:31d."""
    text = options.get("window")
    return typed(reader, {**options, "window": window(text)} if isinstance(text, str) else options)


def _refuse_further(point: Point, known: tuple[str, ...]) -> None:
    for key, value in point.values.items():
        if key not in known:
            raise InvalidInput("", key, shorten(value), "is no option of a file or committed instance")


def _file_or_committed(name: str) -> Problem[Any]:
    return read_problem(name) if Path(name).is_file() else catalogue.load(name)


def _digest_of(problem: Problem[Any]) -> str:
    """Fingerprint the data of an instance; what is known of it does not count."""
    data = problem.model_dump(mode="json", exclude={"about"})
    return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
