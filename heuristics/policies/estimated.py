"""Estimated: a wrapper that shows another policy only estimates of the durations."""

from collections.abc import Mapping
from typing import Any

from gsopt.evaluation.catalogue import find_policy
from gsopt.simulation import Decider, Policy, State
from gsopt.simulation.estimates import misjudging


def estimated(
    state: State,
    *,
    of: Policy | str = "marginal",
    options: Mapping[str, Any] | None = None,
    factor: float | None = None,
    wrong: float | None = None,
    margin: float = 0.25,
    seed: int = 0,
) -> Decider:
    """Run another policy with durations that are off by a random factor, for all or some of the jobs.

    This is not a policy in its own right, so comparisons include it only by name:
    ``heuristics.policies.estimated:estimated``.

    Source: Aryl, section 7.5 (Table 9), for `wrong`. See also `gsopt.simulation.estimates.misjudging`.

    Parameters
    ----------
    of
        The policy, its name, or ``package.module:function``.
    options
        The options of that policy.
    factor
        The random factors of the jobs are log-normal with median 1; this is the factor one standard deviation
        above the median, from 1 (no errors) to 1e6. Defaults to 2 if `wrong` is not given either.
    wrong
        The expected fraction of the jobs that are misjudged. If it is given, `factor` must be None, and the
        factors of these jobs are uniform around 1.
    margin
        The largest relative error of these jobs, from 0 to below 1.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        The policy is unknown, an option is out of range, or both `factor` and `wrong` are given.
    """
    policy = misjudging(find_policy(of, field="of"), factor=factor, wrong=wrong, margin=margin, seed=seed)
    return policy(state, **(options or {}))
