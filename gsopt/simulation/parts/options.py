"""Options: job orders, placements and leases of policies that make offers."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from gsopt.core.errors import require_one_of
from gsopt.simulation.interval import require_interval
from gsopt.simulation.parts.offers import Clock, Key, Offers, Renewal
from gsopt.simulation.parts.patience import Patience
from gsopt.simulation.parts.sensitivity import network_sensitivity, relative_sensitivity
from gsopt.simulation.parts.tiers import Tiers
from gsopt.simulation.placer import Placer, emptiest_first, first_fit
from gsopt.simulation.policy import State

#: The order in which GPUs are offered to waiting jobs.
Order = Literal["network_sensitive", "relative", "fifo", "round_robin"]

#: The rule that selects which free GPUs are offered.
Placement = Literal["best", "first", "emptiest"]

#: The measure of a job's size: its remaining time, its number of GPUs, or their product.
Size = Literal["time", "gpus", "gpu_time"]

#: Placers, keyed by name. None stands for the placer of the run.
_PLACERS: dict[str, Placer | None] = {"best": None, "first": first_fit, "emptiest": emptiest_first}


def offers(
    state: State,
    patience: Patience,
    *,
    order: Order | Key,
    placement: Placement,
    clock: Clock = "starvation",
    lease: float | None,
    renew: Renewal = "best",
) -> Offers:
    """Create the decider of a policy that makes offers.

    `order` is a key function or the name of an order, and `placement` is the name of a placer. The other
    parameters are those of `Offers`.
    """
    require_one_of("clock", clock, ("starvation", "offer"))
    require_one_of("renew", renew, ("best", "same", "never"))
    require_interval("lease", lease, or_none=True)
    key = order if callable(order) else key_of(state, order)
    return Offers(state, patience, key, clock=clock, lease=lease, renew=renew, placer=placer_of(placement))


def key_of(state: State, order: Order) -> Key | None:
    """Return the key function of an order, or None if jobs are ordered only by when they began to wait."""
    require_one_of("order", order, _ORDERS)
    return partial(relative_sensitivity, Tiers(state)) if order == "relative" else _ORDERS[order]


def placer_of(placement: Placement) -> Placer | None:
    """Return the placer with the given name; None, which stands for the placer of the run, for ``"best"``."""
    require_one_of("placement", placement, _PLACERS)
    return _PLACERS[placement]


def size_key(state: State, order: Size) -> Callable[[int], Any]:
    """Return the key function that orders jobs by the given measure of size, smallest first."""
    keys: dict[str, Callable[[int], Any]] = {
        "time": state.remaining,
        "gpus": lambda job: state.jobs[job].gpus,
        "gpu_time": lambda job: state.remaining(job) * state.jobs[job].gpus,
    }
    require_one_of("order", order, keys)
    return keys[order]


def release_date(state: State, job: int) -> Any:
    """Return the release date of a job, in seconds."""
    return state.jobs[job].release_date


_ORDERS: dict[str, Key | None] = {
    "network_sensitive": network_sensitivity,
    "relative": network_sensitivity,
    "fifo": release_date,
    "round_robin": None,
}
