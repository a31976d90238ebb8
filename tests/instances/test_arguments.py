"""Arguments of generators: what is out of range is refused in one line with name, value and rule."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Workload
from instances import (
    admission,
    allocation,
    batching,
    colocation,
    configuration,
    consolidation,
    goodput,
    placement,
    reclaiming,
    scheduling,
    sequencing,
    shares,
    waiting,
    workloads,
)
from instances.reclaiming.snapshots import snapshots

NAN, INF = float("nan"), float("inf")

#: Takes snapshots of a replayed workload of one job.
taken = partial(snapshots, Workload(jobs=[Job(name="a", release_date=0, duration=25, gpus=4)]))

#: Each generator with an argument, a value out of its range, and the rule that it breaks.
BAD: list[tuple[Callable[..., Any], str, Any, str]] = [
    (admission.filled, "machines", 0, "must be at least 1"),
    (admission.filled, "rack", 0, "must be at least 1"),
    (admission.filled, "workers", 0, "must be at least 1"),
    (admission.filled, "gpus", 0, "must be at least 1"),
    (admission.filled, "gangs", 0, "must be at least 1"),
    (admission.filled, "slices", 3, "must divide the 8 workers"),
    (admission.filled, "utilisation", 1.1, "must be between 0 and 1"),
    (admission.filled, "movable", -0.1, "must be between 0 and 1"),
    (admission.filled, "protected", 2.0, "must be between 0 and 1"),
    (admission.filled, "workload", "helios", "must be one of philly, openb, llm"),
    (admission.filled, "costs", "twos", "must be one of ones, gpus, gpu_hours"),
    (admission.latest_is_widest, "wide", 0, "must be at least 1"),
    (admission.latest_is_widest, "needed", 0, "must be at least 1"),
    (allocation.elastic_jobs, "jobs", -1, "must be at least 0"),
    (allocation.elastic_jobs, "capacity", -1, "must be at least 0"),
    (allocation.elastic_jobs, "most_workers", 0, "must be at least 1"),
    (allocation.elastic_jobs, "most_extra", 0, "must be at least 1"),
    (allocation.elastic_jobs, "sizes", "two", "must be one of one, powers_of_two, any"),
    (allocation.elastic_jobs, "scaling", "great", "must be one of proportional, imperfect, across_servers"),
    (allocation.elastic_jobs, "queued_share", 1.5, "must be between 0 and 1"),
    (allocation.multiple_choice, "classes", -1, "must be at least 0"),
    (allocation.multiple_choice, "items", 0, "must be at least 1"),
    (allocation.multiple_choice, "largest", 0, "must be at least 1"),
    (
        allocation.multiple_choice,
        "correlation",
        "odd",
        "must be one of none, weak, strong, subset_sum, ordered",
    ),
    (batching.elastic_jobs, "gpus", -1, "must be at least 0"),
    (batching.elastic_jobs, "jobs", -1, "must be at least 0"),
    (batching.elastic_jobs, "doublings", 21, "must be between 0 and 20"),
    (batching.elastic_jobs, "running", 1.5, "must be between 0 and 1"),
    (colocation.full_cluster, "running", -1, "must be at least 0"),
    (colocation.full_cluster, "pending", -1, "must be at least 0"),
    (colocation.full_cluster, "models", 0, "must be at least 1"),
    (colocation.full_cluster, "worst", 0.5, "must be at least 1 and finite"),
    (colocation.full_cluster, "worst", INF, "must be at least 1 and finite"),
    (colocation.full_cluster, "modes", 6, "must be between 0 and 5"),
    (colocation.full_cluster, "shortest", 0, "must be at least 1"),
    (colocation.full_cluster, "longest", 59, "must be at least the 60 of the shortest"),
    (configuration.growing_jobs, "nodes", 0, "must be at least 1"),
    (configuration.growing_jobs, "types", 0, "must be at least 1"),
    (configuration.growing_jobs, "jobs", -1, "must be at least 0"),
    (configuration.growing_jobs, "running", 1.5, "must be between 0 and 1"),
    (configuration.triples, "pools", 0, "must be at least 1"),
    (configuration.triples, "gpus", 15, "must be at least 16"),
    (consolidation.half_busy, "racks", 0, "must be at least 1"),
    (consolidation.half_busy, "machines", 0, "must be at least 1"),
    (consolidation.half_busy, "gpus", 0, "must be at least 1"),
    (consolidation.half_busy, "jobs", -1, "must be at least 0"),
    (consolidation.half_busy, "busy", 1.5, "must be between 0 and 1"),
    (consolidation.half_busy, "demands", "odd", "must be one of powers_of_two, any"),
    (consolidation.half_busy, "weights", "two", "must be one of one, levels, drawn"),
    (consolidation.half_busy, "maximize", "jobs", "must be one of value, lexicographic, fragmentation"),
    (consolidation.triples, "racks", 0, "must be at least 1"),
    (consolidation.triples, "machines", 1, "must have 16 GPUs in all, or more"),
    (consolidation.triples, "excess", 4, "must be between 0 and 3"),
    (goodput.running_jobs, "nodes", -1, "must be at least 0"),
    (goodput.running_jobs, "jobs", -1, "must be at least 0"),
    (goodput.running_jobs, "gpus_per_node", 0, "must be at least 1"),
    (goodput.running_jobs, "busy", 1.5, "must be between 0 and 1"),
    (goodput.triples, "nodes", 0, "must be at least 1"),
    (goodput.triples, "gpus_per_node", 15, "must be at least 16"),
    (placement.elastic, "jobs", -1, "must be at least 0"),
    (placement.elastic, "elastic_share", 1.2, "must be between 0 and 1"),
    (placement.elastic, "occupied", -0.1, "must be between 0 and 1"),
    (placement.elastic, "minimize", "", "must be one of servers, fragmentation, preferences"),
    (placement.fine_sizes, "workers", 0, "must be at least 1"),
    (placement.vector_packing, "family", 9, "must be one of 1, 2, 3, 4, 5, 6, 7, 8, 10"),
    (placement.vector_packing, "workers", 0, "must be at least 1"),
    (placement.vector_packing, "resources", 0, "must be between 1 and 1000"),
    (placement.vectors, "types", 0, "must be between 1 and 500"),
    (placement.vectors, "workers", 11, "must be at least the 12 types"),
    (placement.vectors, "training", -1, "must be at least 0"),
    (placement.vectors, "inference", -1, "must be at least 0"),
    (placement.vectors, "occupied", 1.5, "must be between 0 and 1"),
    (placement.vectors, "skew", 11, "must be between -10 and 10"),
    (placement.vectors, "minimize", "power", "must be one of servers, fragmentation, preferences"),
    (placement.whole_gpus, "workers", -1, "must be at least 0"),
    (placement.whole_gpus, "servers", 0, "must be at least 1"),
    (reclaiming.churn, "servers", 0, "must be at least 1"),
    (reclaiming.churn, "demand", -1, "must be between 0 and the 520 servers"),
    (reclaiming.churn, "demand", 521, "must be between 0 and the 520 servers"),
    (reclaiming.churn, "utilisation", 0.0, "must be more than 0 and at most 1"),
    (reclaiming.churn, "utilisation", 1.01, "must be more than 0 and at most 1"),
    (reclaiming.churn, "utilisation", NAN, "must be more than 0 and at most 1"),
    (reclaiming.churn, "mode", "tidy", "must be one of packed, mixed, worker"),
    (reclaiming.churn, "elastic_share", 2.0, "must be between 0 and 1"),
    (reclaiming.churn, "elasticity", "rubber", "must be one of tagged, fungible"),
    (taken, "servers", 0, "must be at least 1"),
    (taken, "count", 0, "must be at least 1"),
    (taken, "mode", "tidy", "must be one of packed, mixed, worker"),
    (reclaiming.random_hypergraph, "servers", 0, "must be at least 1"),
    (reclaiming.random_hypergraph, "jobs", -1, "must be at least 0"),
    (reclaiming.random_hypergraph, "span", 0, "must be between 1 and the 60 servers"),
    (reclaiming.random_hypergraph, "span", 61, "must be between 1 and the 60 servers"),
    (reclaiming.random_hypergraph, "demand", 61, "must be between 0 and the 60 servers"),
    (reclaiming.server_uniform, "servers", 0, "must be at least 1"),
    (reclaiming.server_uniform, "jobs", -1, "must be at least 0"),
    (reclaiming.server_uniform, "degree", -1, "must be between 0 and the 60 jobs"),
    (reclaiming.server_uniform, "degree", 61, "must be between 0 and the 60 jobs"),
    (reclaiming.server_uniform, "demand", 61, "must be between 0 and the 60 servers"),
    (scheduling.crawling, "jobs", 0, "must be at least 1"),
    (scheduling.crawling, "gpus", 4, "must be more than the 4 jobs"),
    (scheduling.elastic_jobs, "jobs", 0, "must be at least 1"),
    (scheduling.elastic_jobs, "gpus", 0, "must be at least 1"),
    (scheduling.elastic_jobs, "load", 0, "must be between 1e-6 and 1e6"),
    (scheduling.elastic_jobs, "scaling", "convex", "must be one of concave, linear"),
    (scheduling.elastic_jobs, "counts", "some", "must be one of alpha, all"),
    (scheduling.elastic_jobs, "alpha", NAN, "must be above 0 and at most 1"),
    (scheduling.figure_1, "reading", "exact", "must be one of rounded, truncated"),
    (scheduling.figure_4, "work", 18, "must be more than 18"),
    (sequencing.unit_jobs, "jobs", -1, "must be at least 0"),
    (sequencing.unit_jobs, "gpus", 0, "must be at least 1"),
    (sequencing.unit_jobs, "types", 5, "must be between 1 and 4"),
    (sequencing.unit_jobs, "speedup", 0.5, "must be between 1 and 1000"),
    (sequencing.unit_jobs, "busy", 2, "must be between 0 and 1"),
    (sequencing.unit_jobs, "shortest", 0, "must be at least 1"),
    (sequencing.unit_jobs, "longest", 10, "must be at least the 60 of the shortest"),
    (shares.typed_jobs, "jobs", 0, "must be at least 1"),
    (shares.typed_jobs, "gpus", 7, "must be at least 8"),
    (shares.typed_jobs, "types", 5, "must be between 1 and 4"),
    (shares.typed_jobs, "speedup", 0.5, "must be between 1 and 1000"),
    (shares.typed_jobs, "shortest", 0, "must be at least 1"),
    (shares.typed_jobs, "longest", 10, "must be at least the 600 of the shortest"),
    (waiting.tier_jobs, "jobs", 0, "must be at least 1"),
    (waiting.tier_jobs, "gpus", 0, "must be at least 1"),
    (waiting.tier_jobs, "arrivals", "never", "must be one of batch, poisson"),
    (waiting.tier_jobs, "minimize", "cost", "must be one of mean_jct, makespan"),
    (waiting.tier_jobs, "gap", -1.0, "must be at least 0 and finite"),
    (waiting.tier_jobs, "most", 0.5, "must be at least 1 and finite"),
    (workloads.batch, "jobs", 0, "must be at least 1"),
    (workloads.batch, "gpus", 0, "must be at least 1, the smallest demand"),
    (workloads.ones, "jobs", 0, "must be at least 1"),
    (workloads.ones, "gpus", 0, "must be at least 1"),
    (workloads.ones, "largest", 0, "must be between 1 and 64"),
    (workloads.ones, "largest", 65, "must be between 1 and 64"),
    (workloads.ones, "load", 0.0, "must be between 1e-6 and 1e6"),
    (workloads.ones, "load", NAN, "must be between 1e-6 and 1e6"),
    (workloads.ones, "widths", "any", "must be equal or drawn"),
    (workloads.ones, "convergence", "any", "must be measured or equal"),
    (workloads.poisson, "jobs", 0, "must be at least 1"),
    (workloads.poisson, "gpus", 0, "must be at least 1, the smallest demand"),
    *(
        (workloads.poisson, "load", load, "must be between 1e-6 and 1e6")
        for load in (0, 1e-300, 1e300, -1, INF, NAN)
    ),
]


@pytest.mark.parametrize(("generator", "argument", "value", "rule"), BAD)
def test_arguments_out_of_range_are_refused(
    generator: Callable[..., Any], argument: str, value: Any, rule: str
) -> None:
    """The line names the argument, its value and the rule."""
    with pytest.raises(InvalidInput) as caught:
        generator(**{argument: value})
    assert str(caught.value) == f"{argument}: {value!r}: {rule}"


@pytest.mark.parametrize(
    ("generator", "options", "line"),
    [
        (placement.elastic, {"training": 0, "inference": 0}, "training: 0: must be at least 1 together with"),
        (placement.vectors, {"training": 0, "inference": 0}, "training: 0: must be at least 1 together with"),
        (placement.vector_packing, {"family": 10, "workers": 10}, "workers: 10: must be a multiple of 3"),
        (consolidation.triples, {"machines": 1, "gpus": 15}, "machines: 1: must have 16 GPUs in all, or more"),
        (reclaiming.churn, {"servers": 9}, "demand: 60: must be between 0 and the 9 servers"),
        (taken, {"servers": 9}, "demand: 60: must be between 0 and the 9 servers"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(
    generator: Callable[..., Any], options: dict[str, Any], line: str
) -> None:
    """The line names the first of them."""
    with pytest.raises(InvalidInput, match=line):
        generator(**options)
