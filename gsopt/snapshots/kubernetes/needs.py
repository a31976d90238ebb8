"""Needs: the resources that a pod requests, counted as the Kubernetes scheduler counts them."""

from collections.abc import Collection, Mapping
from fractions import Fraction

from gsopt.problems.placement import Resources
from gsopt.snapshots.field import Field
from gsopt.snapshots.kubernetes.devices import device
from gsopt.snapshots.kubernetes.quantities import amount, quantity, unit_of

#: Exact amounts, keyed by resource name.
Amounts = Mapping[str, Fraction]

#: Resources that are stated in bytes and, like memory, converted to MiB.
_BYTES = ("memory", "ephemeral-storage", "hugepages-")

#: The resource for whole GPUs, and the resource for thousandths of the same GPUs.
_COUNT, _MILLI = "alibabacloud.com/gpu-count", "alibabacloud.com/gpu-milli"
_THOUSAND = 1000

_PODS = "pods"


def pod_needs(pod: Field) -> dict[str, Fraction]:
    """Return the amounts that a pod requests, keyed by resource name.

    The amount of a resource is the total of the containers and sidecars or, if this is larger, that of a single
    init container with the sidecars listed before it. An amount stated for the pod as a whole replaces this.
    The pod's overhead and GPUs requested by annotations are added. The pod itself counts as 1 of ``pods``.
    """
    spec = pod["spec"]
    total: dict[str, Fraction] = {}
    for container in spec["containers"]:
        _add(total, _asked(container["resources"]))
    before: dict[str, Fraction] = {}  # the largest of the containers that run one after the other
    beside: dict[str, Fraction] = {}  # those among them that run on
    for container in spec["initContainers"]:
        asked = _asked(container["resources"])
        if container["restartPolicy"].text() == "Always":
            _add(beside, asked)
        else:
            _raise(before, {name: value + beside.get(name, 0) for name, value in asked.items()})
    _add(total, beside)
    _raise(total, before)
    total |= _asked(spec["resources"])  # of the pod as a whole
    _add(total, amounts_of(spec["overhead"]))
    _add(total, _annotated(pod, total))
    total[_PODS] = Fraction(1)
    return total


def counted(field: Field, amounts: Amounts, others: Collection[str], *, needed: bool) -> Resources:
    """Convert amounts into the units that problems use: whole GPUs, thousandths of CPUs, and MiB of memory.

    Huge pages and ephemeral storage are also in MiB. Other resources are listed under their own names. GPUs are
    also listed under their resource name, because GPUs of one vendor cannot replace those of another. `others`
    contains the names of additional resources that represent whole GPUs. Amounts are rounded up if they are
    `needed`, and down if they are available. `field` is their location in the file.
    """
    whole = Fraction(0)
    found: dict[str, int] = {}
    for name, value in amounts.items():
        kind = device(name, others)
        if kind is not None and kind.kind == "whole":
            whole += value
        unit = unit_of("memory" if name.startswith(_BYTES) else name)
        found[name] = amount(field, value if unit == 1 else value * unit, needed=needed)
    found["gpu"] = amount(field, whole, needed=needed)
    return Resources(**{name: number for name, number in found.items() if number})


def gpus_of(amounts: Amounts, others: Collection[str], turns: Fraction) -> Fraction:
    """Return how many GPUs the amounts represent.

    If GPUs are time-sliced, `turns` is the number of containers that share each GPU, and each requested
    replica counts as 1 / `turns` of a GPU. Otherwise, `turns` is 1.
    """
    total, shares = Fraction(0), Fraction(0)
    for name, value in amounts.items():
        found = device(name, others)
        if found is None:
            continue
        if found.kind == "share":
            shares += value * found.gpus
        else:
            total += value * found.gpus / (1 if found.kind == "slice" else turns)
    return max(total, shares)


def _annotated(pod: Field, total: Amounts) -> dict[str, Fraction]:
    """Return the amounts of GPUs that are requested by annotations instead of resources."""
    annotations = pod["metadata"]["annotations"]
    if _COUNT in total:
        return {} if _MILLI in total else {_MILLI: total[_COUNT] * _THOUSAND}
    if not annotations[_MILLI] and not annotations[_COUNT]:
        return {}
    each = annotations[_MILLI].whole(_THOUSAND, least=0)
    number = annotations[_COUNT].whole(1, least=0)
    found = {_MILLI: Fraction(each * number)}
    return found | {_COUNT: Fraction(number)} if each >= _THOUSAND else found


def _asked(resources: Field) -> dict[str, Fraction]:
    """Return the requested amounts of a container or pod.

    A limit counts as a request if no request is stated.
    """
    return amounts_of(resources["limits"]) | amounts_of(resources["requests"])


def amounts_of(field: Field) -> dict[str, Fraction]:
    """Return the amounts of resources, keyed by resource name."""
    return {key: quantity(each) for key, each in field.named()}


def _add(total: dict[str, Fraction], more: Amounts) -> None:
    for name, value in more.items():
        total[name] = total[name] + value if name in total else value


def _raise(total: dict[str, Fraction], least: Amounts) -> None:
    for name, value in least.items():
        total[name] = max(total.get(name, Fraction(0)), value)
