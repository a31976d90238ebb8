"""Devices: the Kubernetes resources that are GPUs, and the fraction of a GPU that each represents."""

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

#: Names, behind the vendor's, of resources that stand for whole GPUs or whole accelerators of other kinds.
_WHOLE = re.compile(
    r"[^/]+/(p?gpus?|gpu-count|i915|xe|gaudi|npu|tpu|neuron|neurondevice|Ascend[0-9A-Za-z]+|mlu[0-9]*)"
)

#: Slices that hardware cuts a GPU into; the number is how many sevenths of one it is.
_SLICE = re.compile(r"[^/]+/mig-(\d{1,2})g\.[^/]+")

#: Turns on GPUs that several containers have at a time.
_SHARED = re.compile(r"[^/]+/gpu\.shared")

#: Shares of GPUs, and how many of them are one.
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
    gpus: Fraction  # that one of it is; 1 for a shared one, of which nothing says how many share it


def device(resource: str, others: Collection[str] = ()) -> Device | None:
    """Return how a resource counts as GPUs, or None if it is not a GPU.

    `others` has further names of resources that are whole GPUs.
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
