"""Jobs that run in one way only."""

from typing import Any

import pytest

from gsopt.core.problem import RuleBroken
from gsopt.problems.rigid import require_rigid
from gsopt.scenario.job import Job, Mode, Phase

FLEXIBLE: dict[str, Any] = {
    "menu": [(1, 0.5), (2, 1.0)],
    "modes": [Mode(name="large", menu=[(2, 1.0)])],
    "phases": [Phase(until=1, slowdown=2.0)],
    "gpu_type": "V100",
    "checkpoints": False,
}


def jobs(**fields: Any) -> list[Job]:
    """Return a job that is rigid, and one with further fields."""
    each = [("a", {}), ("b", fields)]
    return [Job(name=name, release_date=0, duration=1, gpus=2, **own) for name, own in each]


def test_rigid_jobs_pass() -> None:
    """Nothing is raised for jobs that have none of the fields, with memory where it is looked at."""
    for memory in (True, False):
        require_rigid(jobs(), memory=memory)
    require_rigid(jobs(memory=5), memory=True)


@pytest.mark.parametrize("field", FLEXIBLE)
@pytest.mark.parametrize("memory", [True, False])
def test_what_would_be_ignored_is_refused(field: str, memory: bool) -> None:
    """Each field that would let a job run otherwise is refused, with the job's number."""
    with pytest.raises(RuleBroken, match=rf"jobs\[1\]\.{field}: .*: must be (empty|true)"):
        require_rigid(jobs(**{field: FLEXIBLE[field]}), memory=memory)


def test_memory_is_refused_where_nobody_looks_at_it() -> None:
    """A job that says its memory has to leave it out."""
    with pytest.raises(RuleBroken, match=r"jobs\[1\]\.memory: 5: must be left out"):
        require_rigid(jobs(memory=5), memory=False)
