"""Estimated: another policy with durations that are only estimated."""

from collections.abc import Mapping
from typing import Any

from gsopt.errors import InvalidInput, shorten
from gsopt.simulation import Decider, State
from gsopt.simulation.estimates import misjudging


def estimated(
    state: State,
    *,
    of: str = "marginal",
    options: Mapping[str, Any] | None = None,
    factor: float = 2.0,
    seed: int = 0,
) -> Decider:
    """Run another policy that is told durations which are wrong by a random factor.

    It is no policy of its own, so no comparison has it unless it is named:
    ``heuristics.policies.estimated:estimated``.

    Source: none; see `gsopt.simulation.estimates.misjudging`.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    of
        Name of the policy.
    options
        Its options.
    factor
        The factor that is one standard deviation from the median, 1.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        There is no such policy, or an option is out of its range.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> jobs = [Job(name=name, release_date=0, duration=d, gpus=1) for name, d in [("a", 4), ("b", 5)]]
    >>> simulate(Workload(jobs=jobs), estimated, cluster=1, of="srtf", seed=1).completion_times
    (9.0, 5.0)
    """
    from heuristics import policies  # which holds them all, as soon as it is loaded

    if of not in policies.__all__:
        raise InvalidInput("", "of", shorten(of), f"must be one of {', '.join(policies.__all__)}")
    policy = misjudging(getattr(policies, of), factor=factor, seed=seed)
    return policy(state, **(options or {}))
