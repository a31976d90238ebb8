"""What a pod asks of its node: the most that runs at a time, from its first container to its last."""

from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

from gsopt.snapshots.field import Field
from gsopt.snapshots.kubernetes.needs import gpus_of, pod_needs
from tests.effort import cases

_NAMES = ("cpu", "nvidia.com/gpu")


def _container(random: Random, **more: Any) -> dict[str, Any]:
    asked = {name: str(random.randint(0, 4)) for name in _NAMES if random.random() < 0.7}
    return {"resources": {"requests": asked}, **more}


def _moments(before: list[dict[str, Any]], containers: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """List the containers that run at each moment: those before one by one, and beside them those that stay."""
    found: list[list[dict[str, Any]]] = []
    stay: list[dict[str, Any]] = []
    for container in before:
        found.append([*stay, container])
        if container.get("restartPolicy") == "Always":
            stay.append(container)
    return [*found, [*stay, *containers]]


def test_the_most_that_runs_at_a_time() -> None:
    """A pod asks for what its containers have at the moment at which that is most, and for its overhead."""
    random = Random()
    for _ in range(cases(300)):
        before = [
            _container(random, **({"restartPolicy": "Always"} if random.random() < 0.5 else {}))
            for _ in range(random.randint(0, 4))
        ]
        containers = [_container(random) for _ in range(random.randint(1, 3))]
        overhead = {"cpu": "250m"} if random.random() < 0.5 else {}
        most: Counter[str] = Counter()
        for running in _moments(before, containers):
            for name in _NAMES:
                held = sum(int(each["resources"]["requests"].get(name, 0)) for each in running)
                most[name] = max(most[name], held)
        spec = {"containers": containers, "initContainers": before, "overhead": overhead}
        found = pod_needs(Field("", {"spec": spec}))
        assert found.get("nvidia.com/gpu", 0) == most["nvidia.com/gpu"]
        assert found.get("cpu", 0) == most["cpu"] + (Fraction(1, 4) if overhead else 0)


def test_a_request_counts_before_a_limit() -> None:
    """Where both are told, the request is what the scheduler counts; a limit alone is a request."""
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "4", "memory": "1Gi"}}
    found = pod_needs(Field("", {"spec": {"containers": [{"resources": resources}]}}))
    assert found == {"cpu": 1, "memory": 2**30, "pods": 1}


def test_shares_and_whole_gpus_are_the_same_gpus() -> None:
    """Where a pod names its GPUs as whole ones and as shares, it has the larger of the two, not both."""
    for whole, milli, wanted in [
        (2, 2000, 2),
        (1, 250, 1),
        (0, 1500, Fraction(3, 2)),
        (1, 1500, Fraction(3, 2)),
    ]:
        amounts = {"alibabacloud.com/gpu-count": Fraction(whole), "alibabacloud.com/gpu-milli": Fraction(milli)}
        assert gpus_of(amounts, (), Fraction(1)) == wanted
