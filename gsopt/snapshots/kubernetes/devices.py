"""Devices: the Kubernetes resources that represent GPUs or fractions of GPUs."""

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

#: Resources that represent whole GPUs or other whole accelerators, prefixed by a vendor's name.
_WHOLE = re.compile(
    r"[^/]+/(p?gpus?|gpu-count|i915|xe|gaudi|npu|tpu|neuron|neurondevice|Ascend[0-9A-Za-z]+|mlu[0-9]*)"
)

#: Hardware slices of a GPU. The number in the name is the size of the slice in sevenths of the GPU.
_SLICE = re.compile(r"[^/]+/mig-(\d{1,2})g\.[^/]+")

#: Replicas of time-sliced GPUs, which several containers use in turns.
_SHARED = re.compile(r"[^/]+/gpu\.shared")

#: Number of units that make up one GPU, keyed by the name of a resource that represents fractions of a GPU.
_SHARES: Mapping[str, int] = {
    "alibabacloud.com/gpu-milli": 1000,
    "koordinator.sh/gpu-core": 100,
    "aliyun.com/gpu-core.percentage": 100,
    "tencent.com/vcuda-core": 100,
}

_SEVENTHS = 7


class Device(NamedTuple):
    """The conversion of a resource into a number of GPUs."""

    kind: str  # "whole", "slice", "shared" or "share"
    gpus: Fraction  # per unit; 1 for a shared GPU, as its number of users is unknown


def device(resource: str, others: Collection[str] = ()) -> Device | None:
    """Return how a resource is converted into GPUs, or None if it does not represent GPUs.

    `others` contains the names of additional resources that represent whole GPUs.
    """
    return Device("whole", Fraction(1)) if resource in others else _known(resource)


@lru_cache(maxsize=1024)
def _known(resource: str) -> Device | None:
    if _WHOLE.fullmatch(resource):
        return Device("whole", Fraction(1))
    if found := _SLICE.fullmatch(resource):
        return Device("slice", Fraction(min(int(found[1]), _SEVENTHS), _SEVENTHS))
    if _SHARED.fullmatch(resource):
        return Device("shared", Fraction(1))
    if resource in _SHARES:
        return Device("share", Fraction(1, _SHARES[resource]))
    return None
