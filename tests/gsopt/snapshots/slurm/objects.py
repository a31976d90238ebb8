"""Nodes and jobs of Slurm for the tests, as small as they may be."""

import json
from pathlib import Path
from typing import Any

Object = dict[str, Any]


def wrapped(number: float) -> Object:
    """Return a number as newer releases write it."""
    return {"set": True, "infinite": False, "number": number}


def node(name: str, gres: str = "gpu:h100:8", **more: Any) -> Object:
    """Return a node of 64 CPUs."""
    state = {"state": ["IDLE"], "partitions": ["gpu"], "cpus": 64, "real_memory": 1024}
    return {"name": name, "gres": gres, **state, **more}


def running(number: int, nodes: str, *gres: str, **more: Any) -> Object:
    """Return a job that runs, with its generic resources on each node."""
    base = {"job_id": number, "job_state": ["RUNNING"], "nodes": nodes, "gres_detail": list(gres)}
    return {**base, "start_time": wrapped(3600), "priority": wrapped(1), "requeue": True, **more}


def pending(number: int, **more: Any) -> Object:
    """Return a job that waits in the partition gpu."""
    base = {
        "job_id": number,
        "job_state": ["PENDING"],
        "nodes": "",
        "partition": "gpu",
        "state_reason": "Resources",
    }
    return {**base, **dict.fromkeys(("node_count", "cpus", "tasks"), wrapped(1)), **more}


def write(path: Path, **lists: list[Object]) -> Path:
    """Write what Slurm prints."""
    path.write_text(json.dumps({**lists, "last_update": wrapped(7200), "meta": {}, "errors": []}))
    return path
