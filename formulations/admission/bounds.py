"""Bounds: lower bounds on the cost of making room for a pending gang, for all domains at once.

Domains and copies are those of `formulations.admission.cover.Cover`. If a gang runs on several machines of a
domain, its cost is distributed over these machines, so that each machine pays only its share. On each machine,
a fractional knapsack bounds the cost of each additional copy from below. This bound never falls from one copy
to the next. Therefore, if a domain needs n more copies, the sum of its n lowest bounds is a lower bound on the
domain's cost. An incidence is a pair of a gang and a machine on which it frees resources
(`formulations.admission.stops.Stops`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formulations.admission.cover import Cover
from formulations.admission.stops import Numbers

Reals = NDArray[np.float64]

#: Maximum number of additional copies on a machine whose costs are bounded one by one. If any machine can gain
#: more, all bounds are 0.
_MOST = 512

#: Fraction of a gang's cost that is shifted, in each round, to the machines that are chosen.
_MOVED = 0.5


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower bounds for each domain and each machine, and the shares that machines pay of the gangs' costs."""

    by_domain: Reals  # infinite where a domain cannot hold all workers; shape (domains,)
    # bound on the cost of the machine's domain if an additional copy on this machine is used; shape (machines,)
    forced: Reals
    share: Reals  # share of the gang's weight that each incidence pays in the last round, shape (incidences,)


def lower_bounds(cover: Cover, *, rounds: int = 0) -> Bounds:
    """Return the best bounds found for each domain and each machine.

    For the first bound, each gang's cost is divided among its machines in the domain, in proportion to the
    copies that it can free there. In each of `rounds` further rounds, parts of the costs are shifted to the
    machines with the cheapest copies, which yields another bound.
    """
    share = _even(cover, _useful(cover))
    best, forced, chosen = _bound(cover, share)
    for _ in range(rounds):
        share = _shifted(cover, share, chosen)
        bound, other, chosen = _bound(cover, share)
        best, forced = np.maximum(best, bound), np.maximum(forced, other)
    return Bounds(best, forced, share)


def _weights(cover: Cover) -> Reals:
    return np.array([float(weight) for weight in cover.stops.weights])


def _useful(cover: Cover) -> Reals:
    """Return how many copies each incidence could free at most, or 0 if it is of no use."""
    machine = cover.stops.machine
    gain = (cover.most - cover.copies)[machine]
    found: Reals = np.minimum((cover.load / cover.need).max(axis=1, initial=0.0), gain)
    return found


def _pairs(cover: Cover) -> Numbers:
    """Return, for each incidence, a number that identifies the pair of its gang and its domain."""
    found: Numbers = cover.stops.gang * cover.domains + cover.domain[cover.stops.machine]
    return found


def _even(cover: Cover, useful: Reals) -> Reals:
    """Distribute each gang's cost over the machines of each domain, in proportion to its use on each."""
    _, pair = np.unique(_pairs(cover), return_inverse=True)
    total = np.bincount(pair, weights=useful)
    found: Reals = np.divide(useful, total[pair], out=np.zeros_like(useful), where=total[pair] > 0)
    return found


def _shifted(cover: Cover, share: Reals, chosen: Reals) -> Reals:
    """Shift part of each gang's cost from machines that are not chosen to those that are."""
    _, pair = np.unique(_pairs(cover), return_inverse=True)
    weight = share * chosen
    total = np.bincount(pair, weights=weight)
    toward = np.divide(weight, total[pair], out=share.copy(), where=total[pair] > 0)
    return (1 - _MOVED) * share + _MOVED * toward


def _bound(cover: Cover, share: Reals) -> tuple[Reals, Reals, Reals]:
    """Return bounds by domain and by machine, and how many copies each incidence's machine gains."""
    machine, gains = place_costs(cover, share)
    taken, bound, price, unit = _cheapest(cover, machine, gains)
    chosen = np.bincount(machine[taken], minlength=len(cover.copies)).astype(np.float64)
    least = np.full(len(cover.copies), np.inf)
    np.minimum.at(least, machine, unit)
    forced = bound[cover.domain] + np.maximum(least - price[cover.domain], 0.0)
    return bound, forced, chosen[cover.stops.machine]


def place_costs(cover: Cover, share: Reals) -> tuple[Numbers, Reals]:
    """Return the machine of each additional copy, and a lower bound on its cost, ascending on each machine.

    `share` holds the share of a gang's cost that each incidence pays. If a machine can gain more than 512
    copies, all bounds are 0.
    """
    machines = np.flatnonzero(cover.most > cover.copies)
    more = (cover.most - cover.copies)[machines]
    if not len(machines) or more.max() > _MOST:
        return np.repeat(machines, more), np.zeros(int(more.sum()))
    base = cover.copies[machines]
    steps = np.arange(1, int(more.max()) + 1)
    wanted = base[:, None] + steps
    cost = np.zeros(wanted.shape)
    price = _weights(cover)[cover.stops.gang] * share
    for resource, need in enumerate(cover.need.tolist()):
        missing = need * wanted - cover.free[machines, resource][:, None]
        np.maximum(cost, _fractional(cover, price, resource, machines, missing), out=cost)
    rise = np.diff(cost, axis=1, prepend=0.0)
    valid = steps <= more[:, None]
    return np.repeat(machines, more), rise[valid]


def _fractional(cover: Cover, price: Reals, resource: int, machines: Numbers, missing: Numbers) -> Reals:
    """Return the minimum cost of freeing the missing amounts of a resource if gangs could stop partially."""
    load = cover.load[:, resource]
    able = np.flatnonzero(load)
    ratio = price[able] / load[able]
    order = able[np.lexsort((ratio, cover.stops.machine[able]))]
    owner = cover.stops.machine[order]
    amount = np.concatenate([[0], np.cumsum(load[order])])
    paid = np.concatenate([[0.0], np.cumsum(price[order])])
    first = np.searchsorted(owner, machines)
    last = np.searchsorted(owner, machines, side="right")
    target = np.minimum(amount[first][:, None] + np.maximum(missing, 0), amount[last][:, None])
    place = np.clip(np.searchsorted(amount, target, side="left") - 1, 0, max(len(order) - 1, 0))
    if not len(order):
        return np.zeros(missing.shape)
    each = price[order] / load[order]
    found: Reals = paid[place] + (target - amount[place]) * each[place] - paid[first][:, None]
    found[missing <= 0] = 0.0
    return np.maximum(found, 0.0)


def _cheapest(cover: Cover, machine: Numbers, gains: Reals) -> tuple[Numbers, Reals, Reals, Reals]:
    """Find the cheapest copies, or slices, in every domain.

    Return the indices of the chosen gains, the sum and the maximum of their costs by domain, and, for each
    gain, the minimum cost of a copy on its machine or of a slice in its group.
    """
    wanted = cover.count // cover.slice - cover.room(cover.copies) // cover.slice
    if cover.slice == 1:
        key, value = cover.domain[machine], gains
        member, unit = np.arange(len(gains)), gains
    else:
        key, value, member, unit = _slices(cover, machine, gains)
    order = np.lexsort((value, key))
    picked = order[_ranks(key[order]) < wanted[key[order]]]
    bound = np.bincount(key[picked], weights=value[picked], minlength=cover.domains).astype(np.float64)
    held = np.bincount(key[picked], minlength=cover.domains)
    bound[held < wanted] = np.inf
    bound[wanted <= 0] = 0.0
    price = np.zeros(cover.domains)
    np.maximum.at(price, key[picked], value[picked])
    chosen = np.zeros(len(value) + 1, dtype=np.bool_)
    chosen[picked] = True
    return np.flatnonzero(chosen[member]), bound, price, unit


def _slices(cover: Cover, machine: Numbers, gains: Reals) -> tuple[Numbers, Reals, Numbers, Reals]:
    """Add up the costs of the gains that make up each additional slice.

    Return the domain and the cost of every slice, the slice to which each gain belongs, and the minimum cost
    of a slice in each gain's group.
    """
    base = np.bincount(cover.group, weights=cover.copies).astype(np.int64) % cover.slice
    group = cover.group[machine]
    order = np.lexsort((gains, group))
    place = base[group[order]] + _ranks(group[order])  # the place of each copy in slices that are not yet whole
    total = np.bincount(group, minlength=len(base)) + base
    whole = place < (total // cover.slice * cover.slice)[group[order]]
    most = int(total.max(initial=0)) // cover.slice + 1
    label = group[order] * most + place // cover.slice
    known, slot = np.unique(label[whole], return_inverse=True)
    value = np.bincount(slot, weights=gains[order[whole]], minlength=len(known)).astype(np.float64)
    member = np.full(len(gains), len(known), dtype=np.int64)
    member[order[whole]] = slot
    least = np.full(len(base), np.inf)
    np.minimum.at(least, known // most, value)
    return cover.domain_of_group[known // most], value, member, least[group]


def _ranks(keys: Numbers) -> Numbers:
    """Return the position of each entry among the entries with the same key, which must be adjacent."""
    if not len(keys):
        return keys
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    lengths = np.diff(np.concatenate([begins, [len(keys)]]))
    found: Numbers = np.arange(len(keys)) - np.repeat(begins, lengths)
    return found
