"""Nodes: Kubernetes nodes with their GPUs, network locations, and reasons to keep them."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from gsopt.core.errors import InvalidInput, shorten
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Machine
from gsopt.snapshots.field import Field
from gsopt.snapshots.kubernetes.devices import device
from gsopt.snapshots.kubernetes.needs import amounts_of, counted
from gsopt.snapshots.network import NodePlace

#: Labels that state a node's location, keyed by network level, outermost first.
LEVELS: Mapping[str, tuple[str, ...]] = {
    "region": ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"),
    "zone": ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"),
    "core": ("network.topology.nvidia.com/core", "network.topology.nvidia.com/datacenter"),
    "spine": ("network.topology.nvidia.com/spine", "topology.k8s.aws/network-node-layer-1"),
    "pod": ("topology.k8s.aws/network-node-layer-2", "cloud.google.com/gce-topology-block"),
    "leaf": ("network.topology.nvidia.com/leaf", "network.topology.nvidia.com/block"),
    "rack": ("topology.kubernetes.io/rack", "topology.k8s.aws/network-node-layer-3", "rack"),
    "block": ("cloud.google.com/gce-topology-subblock",),
    "nvlink": ("network.topology.nvidia.com/accelerator", "nvidia.com/gpu.clique"),
}

#: Labels that state a node's GPU type, in order of precedence.
_TYPES = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "gpu.nvidia.com/model",
    "alibabacloud.com/gpu-card-model",
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "k8s.amazonaws.com/accelerator",
    "accelerator",
)
_COUNT, _TURNS = "/gpu.count", "/gpu.replicas"

#: Notes on how resources that represent parts of GPUs are counted, keyed by kind of resource.
_TOLD = {
    "slice": "slices of GPUs, which are placed by that name",
    "shared": "turns on GPUs, which are placed by that name",
    "share": "shares of GPUs, which are added up by node and not GPU by GPU",
}

#: Taints that Kubernetes adds to closed nodes, and removes when they are open again.
_CLOSING = frozenset(
    f"node.kubernetes.io/{state}" for state in ("unschedulable", "not-ready", "unreachable", "out-of-service")
)

_CONTROL = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")

#: Annotations that forbid removing a node, each with the value for which this is so.
_STAYS = {
    "cluster-autoscaler.kubernetes.io/scale-down-disabled": "true",
    "karpenter.sh/do-not-disrupt": "true",
    "karpenter.sh/do-not-consolidate": "true",
}


class Site(NamedTuple):
    """A node as described by its own object, regardless of its pods.

    The fields without a comment are as in `gsopt.snapshots.node.Node`.
    """

    name: str
    gpus: int
    gpu_type: str
    capacity: Resources
    labels: Mapping[str, str]
    kept: str
    closed: str
    taints: list[Field]  # pods must tolerate them to be placed there, also once the node is open
    turns: Fraction  # how many containers share each GPU in turns; 1 if GPUs are not shared
    path: tuple[tuple[str, str], ...]  # levels and names of its location, the outermost first

    @property
    def stand(self) -> NodePlace:
        """The machine and its location in the network."""
        return NodePlace(Machine(name=self.name, gpus=self.gpus, gpu_type=self.gpu_type), self.path)


def read_sites(
    nodes: Sequence[Field], levels: Mapping[str, str] | None, others: Sequence[str], notes: list[str]
) -> dict[str, Site]:
    """Read nodes and return them keyed by name.

    `levels` maps each network level to its label, outermost first; if it is None, `LEVELS` is used. `others`
    contains the names of additional resources that represent whole GPUs. Notes on how shared and partitioned
    GPUs are counted are appended to `notes`.
    """
    keys = LEVELS if levels is None else {level: (label,) for level, label in levels.items()}
    found: dict[str, Site] = {}
    for node in nodes:
        site = _site(node, keys, others)
        if site.name in found:
            node["metadata"]["name"].refuse("must not occur twice in the files")
        found[site.name] = site
    for level, label in (levels or {}).items():
        if not any(label in site.labels for site in found.values()):
            raise InvalidInput(f"levels.{level}", shorten(label), "must be a label of some node")
    notes.extend(_sharing(found.values()))
    return found


def _site(node: Field, keys: Mapping[str, tuple[str, ...]], others: Sequence[str]) -> Site:
    metadata, status = node["metadata"], node["status"]
    labels = metadata["labels"].texts()
    stated = status["allocatable"] or status["capacity"]
    amounts = amounts_of(stated)
    turns = _turns(amounts, labels)
    closed = _closed(node)
    return Site(
        name=metadata["name"].name(),
        gpus=_gpus(stated, amounts, turns, others),
        gpu_type=next((labels[key] for key in _TYPES if labels.get(key)), ""),
        capacity=counted(stated, amounts, others, needed=False),
        labels=labels,
        kept=closed or _kept(metadata, labels),
        closed=closed,
        taints=[taint for taint in node["spec"]["taints"] if not (closed and taint["key"].text() in _CLOSING)],
        turns=turns,
        path=tuple(
            (level, next(labels[label] for label in names if labels.get(label)))
            for level, names in keys.items()
            if any(labels.get(label) for label in names)
        ),
    )


def _turns(amounts: Mapping[str, Fraction], labels: Mapping[str, str]) -> Fraction:
    """Return how many containers share each GPU, from a label or from the number of replicas per GPU."""
    told, gpus = _number(labels, _TURNS, 1), _number(labels, _COUNT, 0)
    shared = sum(value for name, value in amounts.items() if (found := device(name)) and found.kind == "shared")
    return max(Fraction(told), Fraction(shared, gpus)) if told == 1 and shared and gpus else Fraction(told)


def _gpus(
    stated: Field,
    amounts: Mapping[str, Fraction],
    turns: Fraction,
    others: Sequence[str],
) -> int:
    """Count the GPUs of a machine, including time-sliced and partitioned ones."""
    of = {"whole": Fraction(0), "slice": Fraction(0), "shared": Fraction(0), "share": Fraction(0)}
    for name, value in amounts.items():
        if found := device(name, others):
            of[found.kind] += value * found.gpus
    if not any(of.values()):
        return 0
    total = ceil((of["whole"] + of["shared"]) / turns) + ceil(of["slice"])
    total = total or ceil(of["share"])
    if total > 1_000_000:  # noqa: PLR2004 - as many as a decision takes
        stated.refuse("must be at most 1,000,000 GPUs")
    return total


def _number(labels: Mapping[str, str], ending: str, default: int) -> int:
    """Return the positive number in the first label with the given ending, or else the default."""
    texts = (value for key, value in labels.items() if key.endswith(ending))
    found = next((text for text in texts if text.isascii() and text.isdigit() and len(text) <= 6), "")  # noqa: PLR2004
    return int(found or 0) or default


def _closed(node: Field) -> str:
    """Return the reason why nothing may be placed on a node, or an empty string if it is open."""
    if node["spec"]["unschedulable"].truth():
        return "is cordoned"
    for condition in node["status"]["conditions"]:
        if condition["type"].text() == "Ready" and condition["status"].scalar().lower() != "true":
            return "is not ready"
    return ""


def _kept(metadata: Field, labels: Mapping[str, str]) -> str:
    if any(key in labels for key in _CONTROL):
        return "belongs to the control plane"
    annotations = metadata["annotations"]
    stays = (key for key, value in _STAYS.items() if annotations[key].scalar() == value)
    return next((f"has the annotation {key}" for key in stays), "")


def _sharing(sites: Collection[Site]) -> Iterator[str]:
    """Yield notes on how shared GPUs are counted."""
    by_turns = [site for site in sites if site.gpus and site.turns > 1]
    if by_turns:
        most = max(site.turns for site in by_turns)
        told = f"nodes whose GPUs are shared by turns, {most} on each at most, which placements count"
        yield f"{told}: {len(by_turns):,}"
    for kind, rule in _TOLD.items():
        names: Counter[str] = Counter(
            name
            for site in sites
            for name in site.capacity.named
            if (found := device(name)) is not None and found.kind == kind
        )
        for name, number in names.items():
            yield f"nodes with {name}, {rule}: {number:,}"
