"""Estimated: another policy that knows only estimates of durations."""

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
    """Run another policy on durations of which all, or a share, are wrong by a random factor.

    It is no policy of its own, so comparisons include it only if it is named:
    ``heuristics.policies.estimated:estimated``.

    Source: Aryl, section 7.5 (Table 9), for `wrong`; see `gsopt.simulation.estimates.misjudging`.

    Parameters
    ----------
    of
        The policy, its name, or ``package.module:function``.
    options
        Its options.
    factor
        The factor that is one standard deviation from the median, 1; 2 when neither this nor `wrong` is given.
    wrong
        Share of the jobs that are misjudged, instead of `factor`.
    margin
        Largest error of those, as a share of what is true.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        There is no such policy, or an option is out of its range.
    """
    policy = misjudging(find_policy(of, field="of"), factor=factor, wrong=wrong, margin=margin, seed=seed)
    return policy(state, **(options or {}))
