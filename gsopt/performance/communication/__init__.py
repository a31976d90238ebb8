"""Communication: a model of the time that a data-parallel job takes to exchange gradients.

A `Wire` describes the links of one level, and a `Dimension` the units that such wires connect.
`flat_ring`, `hierarchical` and `halving` return the seconds that an all-reduce takes, and a `Collective`
expresses this time as a latency and a time per byte. `exposed` returns the part of the communication that the
backward pass does not hide, and `penalty` divides it by the computing time. `tier_penalty` returns penalties
for `gsopt.scenario.speed.Speed`. `layout` returns the dimensions that GPUs in a cluster form, and `wires_of`
returns the cluster's wires. In place of this model, the published penalties in
`gsopt.scenario.speed.TIER_PENALTIES` can be used.

Examples
--------
>>> ring = Wire(bandwidth=gigabits(900), latency=62e-9, wiring="ring")
>>> round(flat_ring(1e9, Dimension(units=8, wire=ring)) * 1e3, 3)
15.556
"""

from gsopt.performance.communication.all_reduce import flat_ring, halving, hierarchical
from gsopt.performance.communication.calibration import Fit, fit_collective, fit_scale
from gsopt.performance.communication.collective import Collective
from gsopt.performance.communication.layers import Layer, read_layers
from gsopt.performance.communication.layout import Layout, layout
from gsopt.performance.communication.links import wires_of
from gsopt.performance.communication.overlap import exposed, penalty
from gsopt.performance.communication.tiers import tier_penalty
from gsopt.performance.communication.units import gigabits, gigabytes
from gsopt.performance.communication.wire import DALLY_WIRES, Dimension, Wire, Wiring

__all__ = [
    "DALLY_WIRES",
    "Collective",
    "Dimension",
    "Fit",
    "Layer",
    "Layout",
    "Wire",
    "Wiring",
    "exposed",
    "fit_collective",
    "fit_scale",
    "flat_ring",
    "gigabits",
    "gigabytes",
    "halving",
    "hierarchical",
    "layout",
    "penalty",
    "read_layers",
    "tier_penalty",
    "wires_of",
]
