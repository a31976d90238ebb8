"""Believed: another policy, run with wrong beliefs about slowdowns on shared GPUs."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from gsopt.core.errors import require_one_of
from gsopt.core.files import first_error
from gsopt.scenario.speed import Speed
from gsopt.simulation import Decider, State
from gsopt.simulation.beliefs import believing


def believed(
    state: State,
    *,
    of: str = "sjf_bsbf",
    options: Mapping[str, Any] | None = None,
    interference: Mapping[str, Mapping[str, float]] | None = None,
    default_interference: float = 1.0,
) -> Decider:
    """Run another policy with assumed instead of true slowdowns on shared GPUs.

    This is not a policy in its own right, so comparisons include it only by name:
    ``heuristics.policies.believed:believed``.

    Source: Castor, section 9.5 (Figure 13). See also `gsopt.simulation.beliefs.believing`.

    Parameters
    ----------
    of
        Name of the policy.
    options
        The options of that policy.
    interference
        ``interference[a][b]`` is the factor by which model a is believed to slow down if it shares GPUs with
        model b.
    default_interference
        The factor for pairs that are not listed.

    Raises
    ------
    InvalidInput
        The policy is unknown, or an option or a slowdown is out of range.
    """
    from heuristics import policies  # which holds them all, as soon as it is loaded

    require_one_of("of", of, policies.__all__)
    try:
        speed = Speed(interference=interference or {}, default_interference=default_interference)
    except ValidationError as error:
        raise first_error("believed", error) from None
    return believing(getattr(policies, of), speed)(state, **(options or {}))
