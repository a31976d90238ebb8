"""Cells: a study's grid as a list, each cell with a key that changes with whatever its result depends on."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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

#: The key of a method's entry that names the instances for which it is, by their label.
_FOR = "for"


@dataclass(frozen=True)
class Cell:
    """One method on one instance.

    Attributes
    ----------
    instance
        Plain JSON from which the instance can be loaded.
    word
        The decision; empty when the method is a policy.
    method
        Name of the method or policy.
    options
        Its options as plain JSON, seed and time limit among them.
    labels
        What tables call it.
    trust
        Which modules may be named, by its options too.
    time_limit
        Seconds after which the run of a policy is given up; None for no limit. No part of the key: a run that
        ends before is the same without.

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
    trust: Trust = field(default_factory=Trust, compare=False)
    time_limit: float | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """Fingerprint of everything that determines the result."""
        return fingerprint([self.instance, self.word, self.method, self.options])

    @property
    def instance_key(self) -> str:
        """Fingerprint of the instance."""
        return fingerprint(self.instance)


@dataclass(frozen=True)
class Labels:
    """What tables call a cell, and the options by which they can be split.

    Attributes
    ----------
    group, instance, method
        Names of the group of instances, the instance and the method.
    instance_options, method_options
        All options.
    """

    group: Label
    instance: Label
    method: Label
    instance_options: Mapping[str, Any]
    method_options: Mapping[str, Any]


@dataclass(frozen=True)
class _Way:
    """A method and its options, before it is known which decision's method it is, and which it is for."""

    place: str
    kind: str
    name: str
    options: Mapping[str, Any]
    label: Label
    meant: str


def cells_of(study: Study, source: str = "", *, allow: Iterable[str] = ()) -> tuple[Cell, ...]:
    """List the cells of a study, instance by instance; cells that two entries share are listed once.

    Everything in the study that can be checked without computing is checked here.

    Parameters
    ----------
    study
        The study.
    source
        Its file, for error messages, and beside which modules may lie that it names; those in the working
        directory where it is empty.
    allow
        Names of other modules that it may name.

    Raises
    ------
    InvalidInput
        An instance, method or option does not exist, has the wrong type, or applies to nothing in the study; or
        it names a module that it may not, of which nothing is imported then.

    Examples
    --------
    >>> instances, methods = ["reclaiming/aryl-figure-5"], ["exact", "greedy"]
    >>> study = Study(study="a", instances=instances, methods=methods, seeds=[0, 1])
    >>> [(cell.method, cell.options) for cell in cells_of(study)]
    [('exact', {'time_limit': 60.0}), ('greedy', {'seed': 0}), ('greedy', {'seed': 1})]
    """
    trust = Trust.of(source, allow)
    ways = [
        way for index, entry in enumerate(study.methods) for way in _ways(source, f"methods[{index}]", entry)
    ]
    for way in ways:
        if catalogue.is_path(way.name):
            with _within(source, way.place):
                catalogue.refuse_untrusted(trust, way.kind, way.name)
    with trusting(trust):
        return _grid(study, source, ways, trust)


def _grid(study: Study, source: str, ways: Sequence[_Way], trust: Trust) -> tuple[Cell, ...]:
    """List the cells of a study whose methods may be imported."""
    given = [
        (f"instances[{index}]", instance)
        for index, entry in enumerate(study.instances)
        for instance in _spanned(source, index, entry)
    ]
    _refuse_unknown(source, ways, [instance for _, instance in given])
    found: dict[str, Cell] = {}
    for place, instance in given:
        fitting = [way for way in ways if _fits(way, instance)]
        if not fitting:
            raise InvalidInput(
                source, place, shorten(str(instance.name)), "no method of the study applies to it"
            )
        for way in fitting:
            for cell in _cells(study, source, instance, way, trust):
                found.setdefault(cell.key, cell)
        if len(found) > MOST_CELLS:
            raise InvalidInput(source, place, "", f"must span at most {MOST_CELLS:,} cells")
    return tuple(found.values())


def fingerprint(data: Any) -> str:
    """Return a short text that differs when plain JSON data differ."""
    return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:32]


def _spanned(source: str, index: int, entry: str | Mapping[str, Any]) -> Iterator[StudyInstance]:
    with _within(source, f"instances[{index}]"):
        for point in points(entry, "instance"):
            yield from instances_of(point)


def _ways(source: str, place: str, entry: str | Mapping[str, Any]) -> Iterator[_Way]:
    with _within(source, place):
        for point in points(entry, ""):
            yield _way(place, point)


def _way(place: str, point: Point) -> _Way:
    found = [kind for kind in ("", _METHOD, _POLICY) if kind in point.values]
    if len(found) != 1:
        raise InvalidInput("", "", "", "must have one of the keys method, policy")
    kind = found[0]
    name = point.values[kind]
    if not isinstance(name, str):
        raise InvalidInput("", kind, shorten(name), "must be a name")
    meant = point.values.get(_FOR, "")
    if not isinstance(meant, str):
        raise InvalidInput("", _FOR, shorten(meant), "must be the label of an instance")
    options = {key: value for key, value in point.values.items() if key not in (kind, _FOR)}
    return _Way(place, kind, name, options, point.name(name, options), meant)


def _known(way: _Way, word: str) -> Mapping[str, Callable[..., Any]]:
    """Return the methods of a decision, or the policies, among which the name is to be found.

    Every policy is a method of scheduling too.
    """
    if way.kind in {"": (_METHOD,), Scheduling.word: ()}.get(word, (_POLICY,)):
        return {}
    if catalogue.is_path(way.name):
        return {way.name: catalogue.find_method(word, way.name) if word else catalogue.find_policy(way.name)}
    if not word:
        return catalogue.policies()
    known = catalogue.methods(word)
    return {name: known[name] for name in catalogue.policies()} if way.kind == _POLICY else known


def _fits(way: _Way, instance: StudyInstance) -> bool:
    return way.meant in ("", instance.group.base) and way.name in _known(way, instance.word)


def _refuse_unknown(source: str, ways: Sequence[_Way], given: Sequence[StudyInstance]) -> None:
    words = list(dict.fromkeys(instance.word for instance in given))
    for way in ways:
        with _within(source, way.place):
            known = dict.fromkeys(name for word in words for name in _known(way, word))
        labels = dict.fromkeys(instance.group.base for instance in given)
        if way.meant and way.meant not in labels:
            rule = f"must be the label of an instance: {', '.join(labels)}"
            raise InvalidInput(source, f"{way.place}.{_FOR}", shorten(way.meant), rule)
        if way.name not in known:
            rule = catalogue.rule_of_names(way.name, known) if known else "fits no instance of the study"
            place = f"{way.place}.{way.kind}" if way.kind else way.place
            raise InvalidInput(source, place, shorten(way.name), rule)


def _cells(study: Study, source: str, instance: StudyInstance, way: _Way, trust: Trust) -> Iterator[Cell]:
    method = _known(way, instance.word)[way.name]
    options = dict(way.options)
    limit = None
    if not instance.word and not accepts(method, "time_limit"):
        limit = _limit_of_policy(study, source, way, options)
    if instance.word and study.time_limit is not None and accepts(method, "time_limit"):
        options.setdefault("time_limit", study.time_limit)
    with _within(source, way.place):
        typed(method, options)
    labels = Labels(instance.group, instance.name, way.label, instance.options, way.options)
    if catalogue.is_path(way.name):
        trust = trust.naming(way.name.partition(":")[0])  # it may lie elsewhere on another machine
    if "seed" in options or not accepts(method, "seed"):
        yield Cell(instance.definition, instance.word, way.name, options, labels, trust, limit)
        return
    for seed in study.seeds:
        yield Cell(
            instance.definition, instance.word, way.name, {**options, "seed": seed}, labels, trust, limit
        )


def _limit_of_policy(study: Study, source: str, way: _Way, options: dict[str, Any]) -> float | None:
    """Take a policy's own time limit out of its options, or else give the study's, where it states one."""
    if "time_limit" in options:
        with _within(source, way.place):
            return checked_time_limit(options.pop("time_limit"))
    return study.time_limit if "time_limit" in study.model_fields_set else None


@contextmanager
def _within(source: str, place: str) -> Iterator[None]:
    """Name file and place in whatever is refused."""
    try:
        yield
    except InvalidInput as error:
        field = f"{place}.{error.field}" if error.field else place
        rule = f"{error.source}: {error.rule}" if error.source else error.rule
        raise InvalidInput(source, field, error.value, rule) from None
