"""Topograph: YAML models with switches, blocks of nodes and accelerator domains (NVLink)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import yaml

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.formats.assembly import Told, cluster_of, note_changes, plain_branches, some_of
from gsopt.scenario.cluster.formats.branches import Branch, Tree, tree_of
from gsopt.scenario.cluster.formats.domains import NVLINK, with_domains
from gsopt.scenario.cluster.formats.hostlist import compress, expand
from gsopt.scenario.cluster.formats.nodes import Gpus
from gsopt.scenario.cluster.formats.yaml_text import parse_yaml

#: Beginning and endings of the keys of annotations that name a block's accelerator domain or sub-domain.
_ACCELERATOR, _DOMAIN, _PART = "accelerator", "/domain", "/sub-domain"
_WRITTEN_DOMAIN = "accelerator.topology.test/domain"

#: gsopt's own annotations, which state the GPUs, because topograph's models do not.
_GPUS, _GPU_TYPE = "gsopt/gpus", "gsopt/gpu-type"


class _Model(NamedTuple):
    """The content of a model."""

    branches: Sequence[Branch]  # all switches, including those of blocks
    # Accelerator domain, and part of it, of every machine that has one.
    domains: Mapping[str, str]
    parts: Mapping[str, str]
    gpus: Mapping[str, Gpus]  # of the machines for which it states them


class _Block(NamedTuple):
    place: str
    switch: str
    nodes: Sequence[str]
    annotations: Mapping[str, str]


def read_topograph(source: str, text: str, told: Told, notes: list[str]) -> Cluster:
    """Read a cluster from a topograph model.

    Accelerator domains become switches on the level ``"nvlink"``, below or above the other switches.
    Sub-domains are not read. A note names those that do not have exactly the machines of one switch.
    """
    model = _model(source, text)
    tree = told.levelled(source, tree_of(source, model.branches, notes))
    _note_parts(source, tree, model.parts, notes)
    whole = with_domains(source, tree, model.domains)
    return cluster_of(source, whole, told.about(source, tree, model.gpus), notes)


def _note_parts(source: str, tree: Tree, parts: Mapping[str, str], notes: list[str]) -> None:
    """Note the sub-domains that do not consist of exactly the machines of one switch."""
    members: dict[str, set[str]] = {}
    for machine, part in parts.items():
        members.setdefault(part, set()).add(machine)
    switches = {frozenset(branch.machines) for branch in tree.values()}
    lost = [part for part, machines in members.items() if machines not in switches]
    if lost:
        notes.append(f"{source}: sub-domains that are no switches are not read: {some_of(lost)}")


def _model(source: str, text: str) -> _Model:
    data = parse_yaml(source, text)
    if not isinstance(data, dict) or not data.keys() & {"switches", "blocks"}:
        raise InvalidInput("", shorten(data), "must have switches and blocks", source=source)
    switches = dict(_switches(source, data.get("switches") or {}))
    blocks = list(_blocks(source, data.get("blocks") or []))
    held: dict[str, list[str]] = {}
    for block in blocks:
        held.setdefault(block.switch, []).extend(block.nodes)
    places = {block.switch: block.place for block in reversed(blocks)}
    mentioned = [child for branch in switches.values() for child in branch.branches]
    for name in dict.fromkeys([*mentioned, *held]):
        stated = switches.get(name, Branch(name, places.get(name, "switches")))
        switches[name] = Branch(name, stated.place, stated.branches, held.get(name, ()))
    return _Model(
        list(switches.values()),
        dict(_annotated(blocks, _DOMAIN)),
        dict(_annotated(blocks, _PART)),
        {node: gpus for block in blocks for node, gpus in _gpus(source, block)},
    )


def _switches(source: str, given: Any) -> Iterator[tuple[str, Branch]]:
    if not isinstance(given, dict):
        raise InvalidInput("switches", shorten(given), "must be a mapping of names to switches", source=source)
    for name, switch in given.items():
        place = f"switches.{name}"
        below = switch.get("switches") or [] if isinstance(switch, dict) else switch or []
        yield name, Branch(name, place, _hosts(source, f"{place}.switches", below))


def _blocks(source: str, given: Any) -> Iterator[_Block]:
    if not isinstance(given, list):
        raise InvalidInput("blocks", shorten(given), "must be a list of blocks", source=source)
    for index, block in enumerate(given):
        place = f"blocks[{index}]"
        if not isinstance(block, dict) or not isinstance(block.get("switch"), str):
            raise InvalidInput(
                f"{place}.switch", shorten(block), "must name the switch of the block", source=source
            )
        annotations = block.get("annotations") or {}
        if not isinstance(annotations, dict) or not all(isinstance(each, str) for each in annotations.values()):
            raise InvalidInput(
                f"{place}.annotations", shorten(annotations), "must be strings by name", source=source
            )
        nodes = _hosts(source, f"{place}.nodes", block.get("nodes") or [])
        yield _Block(place, block["switch"], nodes, annotations)


def _hosts(source: str, field: str, given: Any) -> list[str]:
    """Return the names in a list of host lists."""
    if not isinstance(given, list):
        raise InvalidInput(field, shorten(given), "must be a list of names", source=source)
    found: list[str] = []
    for index, text in enumerate(given):
        try:
            found += expand(text if isinstance(text, str) else "")
        except ValueError as error:
            raise InvalidInput(f"{field}[{index}]", shorten(text), str(error), source=source) from None
    return found


def _annotated(blocks: Sequence[_Block], ending: str) -> Iterator[tuple[str, str]]:
    """Yield the nodes of blocks that have an annotation, each with the text of the annotation."""
    for block in blocks:
        for key, text in block.annotations.items():
            if text and key.startswith(_ACCELERATOR) and key.endswith(ending):
                yield from ((node, text) for node in block.nodes)


def _gpus(source: str, block: _Block) -> Iterator[tuple[str, Gpus]]:
    text = block.annotations.get(_GPUS)
    if text is None:
        return
    if not (text.isascii() and text.isdigit() and len(text) <= len("1000000")):
        field = f"{block.place}.annotations.{_GPUS}"
        raise InvalidInput(field, shorten(text), "must be a number of GPUs", source=source)
    gpus = Gpus(int(text), block.annotations.get(_GPU_TYPE, ""))
    yield from ((node, gpus) for node in block.nodes)


def write_topograph(cluster: Cluster, notes: list[str]) -> str:
    """Write a cluster as a topograph model.

    Each run of machines with the same switch, accelerator domain, GPU type and number of GPUs becomes a block.
    """
    branches = plain_branches(cluster, notes)
    domain_of, outer = _without_domains(branches)
    names = [machine for branch in branches for machine in branch.machines]
    gpus = {name: Gpus(each.gpus, each.gpu_type) for name, each in zip(names, cluster.machines, strict=True)}
    switches = {branch.name: {"switches": list(branch.branches)} for branch in outer if branch.branches}
    blocks = [block for branch in outer for block in _written_blocks(branch, domain_of, gpus)]
    data = {"switches": switches, "blocks": blocks}
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    note_changes(branches, read_topograph("", text, Told(), []), notes)
    return text


def _without_domains(branches: Sequence[Branch]) -> tuple[dict[str, str], list[Branch]]:
    """Return the domain of each machine that has one, and the switches that are not domains."""
    domains = {branch.name for branch in branches[1:] if branch.level == NVLINK}
    within: dict[str, str] = {}
    for branch in branches:
        if domain := branch.name if branch.name in domains else within.get(branch.name, ""):
            within |= dict.fromkeys((*branch.branches, *branch.machines), domain)
    opened: Tree = {}
    for branch in reversed(branches):
        inner: list[str] = []
        machines = list(branch.machines)
        for child in branch.branches:
            inner += opened[child].branches if child in domains else [child]
            machines += opened[child].machines if child in domains else []
        opened[branch.name] = replace(branch, branches=inner, machines=machines)
    return within, [opened[branch.name] for branch in branches if branch.name not in domains]


def _written_blocks(
    branch: Branch, domains: Mapping[str, str], gpus: Mapping[str, Gpus]
) -> Iterator[dict[str, Any]]:
    runs: list[tuple[dict[str, str], list[str]]] = []
    for machine in branch.machines:
        notes = {_GPUS: str(gpus[machine].number), _GPU_TYPE: gpus[machine].kind}
        notes = {_WRITTEN_DOMAIN: domains.get(machine, ""), **notes}
        alike = {key: text for key, text in notes.items() if text}
        if runs and runs[-1][0] == alike:
            runs[-1][1].append(machine)
        else:
            runs.append((alike, [machine]))
    for annotations, machines in runs:
        yield {"switch": branch.name, "nodes": [compress(machines)], "annotations": annotations}
