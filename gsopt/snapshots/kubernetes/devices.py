"""Devices: the Kubernetes resources that are GPUs, and the fraction of a GPU that each represents."""

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

#: Names of resources, after a vendor's name, that stand for whole GPUs or other whole accelerators.
_WHOLE = re.compile(
    r"[^/]+/(p?gpus?|gpu-count|i915|xe|gaudi|npu|tpu|neuron|neurondevice|Ascend[0-9A-Za-z]+|mlu[0-9]*)"
)

#: Hardware slices of a GPU; the number is the size of the slice in sevenths of the GPU.
_SLICE = re.compile(r"[^/]+/mig-(\d{1,2})g\.[^/]+")

#: Replicas of GPUs that several containers share in turns.
_SHARED = re.compile(r"[^/]+/gpu\.shared")

#: Resources that are shares of a GPU, each with the number of shares in one GPU.
_SHARES: Mapping[str, int] = {
    "alibabacloud.com/gpu-milli": 1000,
    "koordinator.sh/gpu-core": 100,
    "aliyun.com/gpu-core.percentage": 100,
    "tencent.com/vcuda-core": 100,
}

_SEVENTHS = 7


class Device(NamedTuple):
    """The conversion of a resource to GPUs."""

    kind: str  # "whole", "slice", "shared" or "share"
    gpus: Fraction  # per unit; 1 for a shared GPU, as its number of users is unknown


def device(resource: str, others: Collection[str] = ()) -> Device | None:
    """Return how a resource counts as GPUs, or None if it is not a GPU.

    `others` contains additional names of resources that count as whole GPUs.
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
