"""Cells: the cells of a study's grid, each of which runs one method on one instance.

The key of a cell is a hash of its instance, decision, method and options.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from gsopt.core.budget import checked_time_limit
from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.method import accepts
from gsopt.evaluation import catalogue
from gsopt.evaluation.trust import Trust, trusting
from gsopt.problems.scheduling import Scheduling
from gsopt.studies.grid import MOST_CELLS, Label, Point, points
from gsopt.studies.instance import Definition, StudyInstance, instances_of
from gsopt.studies.options import typed
from gsopt.studies.spec import Study

_METHOD, _POLICY = "method", "policy"

#: The key in the entry of a method that restricts the method to the instances with a given label.
_FOR = "for"


@dataclass(frozen=True)
class Cell:
    """A cell of a study: one method, with its options and seed, on one instance.

    Any process can load the instance and look up the method by name.

    Attributes
    ----------
    instance
        Definition of the instance, as plain JSON.
    word
        Name of the decision; empty if a policy is simulated on a workload.
    method
        Name of the method or policy.
    options
        Options of the method as plain JSON, including its seed and, if `word` is not empty, its time limit, as
        far as the method accepts them.
    labels
        Names for tables (of the group, the instance and the method), and the options by which to group cells.
    load
        Function that loads the instance.
    arguments
        The options as typed keyword arguments of the method.
    trust
        The modules from which methods and policies may be imported.
    time_limit
        Seconds after which the run of a policy is aborted; None for no limit. It is not part of the key, as it
        does not change the result of a run that ends in time.

    Examples
    --------
    >>> study = Study(study="a", instances=["reclaiming/aryl-figure-5"], methods=["greedy"])
    >>> [(cell.word, cell.method) for cell in cells_of(study)]
    [('reclaiming', 'greedy')]
    """

    instance: Definition
    word: str
    method: str
    options: Mapping[str, Any]
    labels: "Labels"
    load: Callable[[], Any] = field(compare=False, repr=False)
    arguments: Mapping[str, Any] = field(compare=False, repr=False)
    trust: Trust = field(default_factory=Trust, compare=False)
    time_limit: float | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """Hash of the instance, decision, method and options."""
        return fingerprint([self.instance, self.word, self.method, self.options])

    @property
    def instance_key(self) -> str:
        """Hash of the instance."""
        return fingerprint(self.instance)


@dataclass(frozen=True)
class Labels:
    """The names of a cell's group, instance and method in tables, and the options by which to group cells."""

    group: Label
    instance: Label
    method: Label
    instance_options: Mapping[str, Any]
    method_options: Mapping[str, Any]


@dataclass(frozen=True)
class _Method:
    """A method with its options, whose decision is not known yet."""

    place: str
    kind: str
    name: str
    options: Mapping[str, Any]
    label: Label
    only: str  # the label of the instances that it meets; empty for all


def cells_of(study: Study, source: str = "", *, allow: Iterable[str] = ()) -> tuple[Cell, ...]:
    """Return the cells of a study, instance by instance.

    A cell is one method, with its options and seed, on one instance. A cell that several entries contain is
    returned only once. The study is checked, but no cell is computed.

    Parameters
    ----------
    study
        The study.
    source
        Path of the study file, for error messages. Modules that the study names may be in the folder of this
        file, or in the working directory if `source` is empty.
    allow
        Names of further modules that the study may name.

    Raises
    ------
    InvalidInput
        An instance, method or option does not exist, has the wrong type, or has no effect in the study; there
        are too many cells; or a method is in a module that is not allowed, in which case no module is imported.

    Examples
    --------
    >>> instances, methods = ["reclaiming/aryl-figure-5"], ["exact", "greedy"]
    >>> study = Study(study="a", instances=instances, methods=methods, seeds=[0, 1])
    >>> [(cell.method, cell.options) for cell in cells_of(study)]
    [('exact', {'time_limit': 60.0}), ('greedy', {'seed': 0}), ('greedy', {'seed': 1})]
    """
    trust = Trust.of(source, allow)
    methods = [method for index, entry in enumerate(study.methods) for method in _methods(source, index, entry)]
    for method in methods:
        if catalogue.is_path(method.name):
            with _within(source, method.place):
                catalogue.refuse_untrusted(trust, method.kind, method.name)
    with trusting(trust):
        return _grid(study, source, _shortly_named(methods), trust)


def _shortly_named(methods: Sequence[_Method]) -> list[_Method]:
    """Return the methods, each one given by path labeled with the name of its function if that is unique."""
    short = catalogue.short_names({each.name for each in methods}, {each.label.base for each in methods})
    return [
        replace(each, label=replace(each.label, base=short[each.name]))
        if each.label.base == each.name
        else each
        for each in methods
    ]


def fingerprint(data: Any) -> str:
    """Return a short hash of plain JSON data."""
    return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:32]


def _grid(study: Study, source: str, methods: Sequence[_Method], trust: Trust) -> tuple[Cell, ...]:
    """Return the cells of a study, importing the modules of its methods."""
    given = [
        (f"instances[{index}]", instance)
        for index, entry in enumerate(study.instances)
        for instance in _instances(source, index, entry)
    ]
    _refuse_unknown(source, methods, [instance for _, instance in given])
    found: dict[str, Cell] = {}
    for place, instance in given:
        fitting = [each for each in methods if _fits(each, instance)]
        if not fitting:
            rule = "no method of the study applies to it"
            raise InvalidInput(place, shorten(str(instance.name)), rule, source=source)
        for method in fitting:
            for cell in _cells(study, source, instance, method, trust):
                found.setdefault(cell.key, cell)
        if len(found) > MOST_CELLS:
            raise InvalidInput(place, "", f"must span at most {MOST_CELLS:,} cells", source=source)
    return tuple(found.values())


def _instances(source: str, index: int, entry: str | Mapping[str, Any]) -> Iterator[StudyInstance]:
    with _within(source, f"instances[{index}]"):
        for point in points(entry, "instance"):
            yield from instances_of(point)


def _methods(source: str, index: int, entry: str | Mapping[str, Any]) -> Iterator[_Method]:
    with _within(source, place := f"methods[{index}]"):
        for point in points(entry, ""):
            yield _method(place, point)


def _method(place: str, point: Point) -> _Method:
    found = [kind for kind in ("", _METHOD, _POLICY) if kind in point.values]
    if len(found) != 1:
        raise InvalidInput("", "", "must have one of the keys method, policy")
    kind = found[0]
    name = point.values[kind]
    if not isinstance(name, str):
        raise InvalidInput(kind, shorten(name), "must be a name")
    only = point.values.get(_FOR, "")
    if not isinstance(only, str):
        raise InvalidInput(_FOR, shorten(only), "must be the label of an instance")
    options = {key: value for key, value in point.values.items() if key not in (kind, _FOR)}
    return _Method(place, kind, name, options, point.name(name, options), only)


def _known(method: _Method, word: str) -> Mapping[str, Callable[..., Any]]:
    """Return the methods for a decision, or the policies, to which a method's name may refer.

    Every policy is also a method for scheduling.
    """
    if method.kind in {"": (_METHOD,), Scheduling.word: ()}.get(word, (_POLICY,)):
        return {}
    name = method.name
    if catalogue.is_path(name):
        return {name: catalogue.find_method(word, name) if word else catalogue.find_policy(name)}
    if not word:
        return catalogue.policies()
    known = catalogue.methods(word)
    return {each: known[each] for each in catalogue.policies()} if method.kind == _POLICY else known


def _fits(method: _Method, instance: StudyInstance) -> bool:
    return method.only in ("", instance.group.base) and method.name in _known(method, instance.word)


def _refuse_unknown(source: str, methods: Sequence[_Method], given: Sequence[StudyInstance]) -> None:
    words = list(dict.fromkeys(instance.word for instance in given))
    labels = dict.fromkeys(instance.group.base for instance in given)
    for method in methods:
        with _within(source, method.place):
            known = dict.fromkeys(name for word in words for name in _known(method, word))
        if method.only and method.only not in labels:
            rule = f"must be the label of an instance: {', '.join(labels)}"
            raise InvalidInput(f"{method.place}.{_FOR}", shorten(method.only), rule, source=source)
        if method.name not in known:
            rule = catalogue.rule_of_names(method.name, known) if known else "fits no instance of the study"
            place = f"{method.place}.{method.kind}" if method.kind else method.place
            raise InvalidInput(place, shorten(method.name), rule, source=source)


def _cells(study: Study, source: str, instance: StudyInstance, chosen: _Method, trust: Trust) -> Iterator[Cell]:
    method = _known(chosen, instance.word)[chosen.name]
    options, limit = dict(chosen.options), None
    with _within(source, chosen.place):
        if not accepts(method, "time_limit") and not instance.word:
            limit = _limit_of_policy(study, options)
        elif accepts(method, "time_limit") and instance.word and study.time_limit is not None:
            options.setdefault("time_limit", study.time_limit)
        arguments = typed(method, options)
    labels = Labels(instance.group, instance.name, chosen.label, instance.options, chosen.options)
    if catalogue.is_path(chosen.name):
        trust = trust.naming(chosen.name.partition(":")[0])  # it may lie elsewhere on another machine
    drawn = accepts(method, "seed") and "seed" not in options
    for seed in [{"seed": each} for each in study.seeds] if drawn else [{}]:
        yield Cell(
            instance.definition,
            instance.word,
            chosen.name,
            options | seed,
            labels,
            instance.load,
            arguments | seed,
            trust,
            limit,
        )


def _limit_of_policy(study: Study, options: dict[str, Any]) -> float | None:
    """Remove a policy's own time limit from its options and return it, or return the study's limit."""
    if "time_limit" in options:
        return checked_time_limit(options.pop("time_limit"))
    return study.time_limit if "time_limit" in study.model_fields_set else None


@contextmanager
def _within(source: str, place: str) -> Iterator[None]:
    """Add a file, and the location in it, to any `InvalidInput`."""
    try:
        yield
    except InvalidInput as error:
        field = f"{place}.{error.field}" if error.field else place
        rule = f"{error.source}: {error.rule}" if error.source else error.rule
        raise InvalidInput(field, error.value, rule, source=source) from None
