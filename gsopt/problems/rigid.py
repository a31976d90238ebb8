"""Rigid: a check that jobs have no menu, modes, phases or GPU type, and keep their progress if stopped."""

from collections.abc import Mapping, Sequence

from gsopt.core.problem import RuleBroken
from gsopt.scenario.job import Job

#: Fields of the excluded features, each with its only allowed value and the rule to report.
_RIGID: Mapping[str, tuple[object, str]] = {
    "menu": ((), "must be empty: the job runs on the GPUs that it demands"),
    "modes": ((), "must be empty: the job runs in only one way"),
    "phases": ((), "must be empty: the job is always as fast"),
    "gpu_type": ("", "must be empty: all GPUs are alike"),
    "checkpoints": (True, "must be true: a job that stops keeps its progress"),
}
_NO_MEMORY: Mapping[str, tuple[object, str]] = {"memory": (None, "must be left out: memory is ignored")}


def require_rigid(jobs: Sequence[Job], *, memory: bool) -> None:
    """Raise `RuleBroken` for the first job with a feature that problems with rigid jobs exclude.

    Parameters
    ----------
    jobs
        The jobs.
    memory
        Whether jobs may state how much memory they need.

    Raises
    ------
    RuleBroken
        A job has a menu, modes, phases or a GPU type, has no checkpoints, or states a memory demand although
        `memory` is False.

    Examples
    --------
    >>> require_rigid([Job(name="a", release_date=0, duration=1, gpus=1, gpu_type="V100")], memory=True)
    Traceback (most recent call last):
    gsopt.core.problem.RuleBroken: jobs[0].gpu_type: 'V100': must be empty: all GPUs are alike
    """
    rules = _RIGID if memory else {**_RIGID, **_NO_MEMORY}
    for index, job in enumerate(jobs):
        for field, (wanted, rule) in rules.items():
            value = getattr(job, field)
            if value != wanted:
                raise RuleBroken(f"jobs[{index}].{field}", value, rule)
