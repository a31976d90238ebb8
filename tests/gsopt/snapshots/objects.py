"""Objects of Kubernetes for the tests, as small as they may be."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Object = dict[str, Any]


def node(
    name: str,
    gpus: int = 8,
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    resources: dict[str, str] | None = None,
    ready: str = "True",
    **more: Any,
) -> Object:
    """Return a node with GPUs of NVIDIA, and with other resources."""
    allocatable = {"cpu": "64", "memory": "512Gi", "pods": "110"} | (resources or {})
    allocatable |= {"nvidia.com/gpu": str(gpus)} if gpus else {}
    status = {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": ready}]}
    metadata = {"name": name, "labels": labels or {}, "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status, **more}


def pod(
    name: str,
    on: str = "",
    gpus: int = 1,
    *,
    owner: str = "",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    limits: dict[str, Any] | None = None,
    phase: str = "",
    deleted: bool = False,
    **spec: Any,
) -> Object:
    """Return a pod, which waits unless it stands on a node; its owner is given as ``Kind/name``."""
    kind, _, controller = owner.partition("/")
    owners = [{"kind": kind, "name": controller, "controller": True}] if owner else []
    metadata = {
        "name": name,
        "namespace": "ml",
        "labels": labels or {},
        "annotations": annotations or {},
        "ownerReferences": owners,
        "creationTimestamp": "2026-01-01T00:00:00Z",
    } | ({"deletionTimestamp": "2026-01-02T00:00:00Z"} if deleted else {})
    limits = ({"nvidia.com/gpu": gpus} if gpus else {}) | (limits or {})
    asked = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": limits}
    whole = {"containers": [{"name": "main", "resources": asked}]} | ({"nodeName": on} if on else {}) | spec
    status = {"phase": phase or "Running", "startTime": "2026-01-01T01:00:00Z"} if on else {"phase": "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": whole, "status": status}


def budget(name: str, allowed: int, **labels: str) -> Object:
    """Return a disruption budget of pods with some labels."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed},
    }


def write(path: Path, objects: Sequence[Object]) -> Path:
    """Write a list of objects, as kubectl prints it."""
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return path
