"""Clusters after churn."""

from statistics import median
from typing import Any, get_args

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.problems.reclaiming import Reclaiming
from instances.reclaiming import churn
from instances.reclaiming.workers import Mode
from tests.effort import cases

MODES = get_args(Mode)


def component_sizes(problem: Reclaiming) -> list[int]:
    """Return the number of servers of every component of the server-job graph, largest first."""
    graph = nx.Graph()
    graph.add_nodes_from(server.name for server in problem.servers)
    for job in problem.jobs:
        nx.add_path(graph, list(job.workers))
    return sorted(map(len, nx.connected_components(graph)), reverse=True)


def largest_span(problem: Reclaiming) -> int:
    """Return the number of servers of the job that is on most of them."""
    return max(len(job.workers) for job in problem.jobs)


@settings(deadline=None, max_examples=cases(60))
@given(
    st.integers(1, 40),
    st.floats(0.05, 1),
    st.sampled_from(MODES),
    st.floats(0, 1),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_the_utilisation_is_reached(
    servers: int, utilisation: float, mode: Mode, elastic_share: float, weighted: bool, seed: int
) -> None:
    """The last job makes the cluster as full as asked; without it the cluster would not be."""
    problem = churn(
        servers=servers,
        demand=servers,
        utilisation=utilisation,
        mode=mode,
        elastic_share=elastic_share,
        weighted=weighted,
        seed=seed,
    )
    used = sum(job.gpus for job in problem.jobs)

    assert utilisation * 8 * servers - 1e-6 <= used <= 8 * servers
    assert used - problem.jobs[-1].gpus < utilisation * 8 * servers + 1e-6


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(3))
def test_a_cluster_of_production_size(mode: Mode, seed: int) -> None:
    """At 520 servers about 550 jobs use 93 to 97 % of the GPUs."""
    problem = churn(mode=mode, seed=seed)

    assert 450 <= len(problem.jobs) <= 720
    assert 0.93 <= sum(job.gpus for job in problem.jobs) / 4160 <= 0.97


def test_components_by_mode() -> None:
    """Packed jobs leave small components, scattered ones a giant component, mixed ones something between."""
    sizes = {mode: [component_sizes(churn(mode=mode, seed=seed)) for seed in range(5)] for mode in MODES}

    assert all(found[0] == 8 and 260 <= len(found) <= 340 for found in sizes["packed"])
    assert 40 <= median(found[0] for found in sizes["mixed"]) <= 140
    assert 240 <= median(found[0] for found in sizes["worker"]) <= 360
    assert max(largest_span(churn(mode="worker", seed=seed)) for seed in range(5)) >= 25


def test_packed_jobs_fill_servers() -> None:
    """In mode packed a job larger than a server has whole servers, a smaller one is on one server."""
    for job in churn(seed=5).jobs:
        assert len(job.workers) == -(-job.gpus // 8)
        assert job.gpus <= 8 or set(job.workers.values()) == {8}


def test_sizes_keep_their_proportions() -> None:
    """Waiting keeps large jobs from being crowded out: sizes come in the proportions they are drawn in."""
    jobs = [job for seed in range(10) for job in churn(seed=seed).jobs]
    expected = {1: 0.38, 2: 0.14, 4: 0.14, 8: 0.18, 16: 0.09, 32: 0.05, 64: 0.02}

    shares = {gpus: sum(job.gpus == gpus for job in jobs) / len(jobs) for gpus in expected}

    assert sum(shares.values()) == pytest.approx(1)
    assert shares == pytest.approx(expected, abs=0.03)


def test_costs_and_flexible_workers_do_not_move_jobs() -> None:
    """The placement is the same for every choice of costs and elasticity."""
    plain = churn(servers=60, mode="worker", seed=3)
    rich = churn(servers=60, mode="worker", weighted=True, elastic_share=0.5, elasticity="fungible", seed=3)

    def placement(problem: Reclaiming) -> list[dict[str, int]]:
        return [{s.name: job.gpus_on(s.name) for s in problem.servers} for job in problem.jobs]

    assert placement(plain) == placement(rich)


def test_half_of_an_elastic_job_is_flexible() -> None:
    """Every job of 4 GPUs or more has as many base GPUs as flexible ones when all are elastic."""
    problem = churn(servers=100, mode="worker", elastic_share=1.0, elasticity="fungible", seed=2)

    assert problem.elasticity == "fungible"
    for job in problem.jobs:
        flexible = sum(job.flexible.values())
        assert flexible == (job.gpus // 2 if job.gpus >= 4 else 0)


def test_elastic_share() -> None:
    """About the share asked for of the jobs with 4 GPUs or more is elastic, and none without."""
    large = [job for job in churn(elastic_share=0.4, seed=1).jobs if job.gpus >= 4]

    assert abs(sum(bool(job.flexible) for job in large) / len(large) - 0.4) < 0.1
    assert not any(job.flexible for job in churn(seed=1).jobs)


def test_costs() -> None:
    """Every cost is 1 without weights; with weights 40 % are, and the others are whole, up to 1000."""
    costs = [job.cost for job in churn(weighted=True, seed=1).jobs]

    assert {job.cost for job in churn(seed=1).jobs} == {1}
    assert all(cost.is_integer() and 1 <= cost <= 1000 for cost in costs)
    assert abs(costs.count(1) / len(costs) - 0.4) < 0.1


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no servers": ({"servers": 0}, "servers: 0: must be at least 1"),
    "negative demand": ({"demand": -1}, "demand: -1: must be between 0 and the 520 servers"),
    "too much demand": ({"servers": 9}, "demand: 60: must be between 0 and the 9 servers"),
    "no utilisation": ({"utilisation": 0.0}, "utilisation: 0.0: must be more than 0 and at most 1"),
    "more than all GPUs": ({"utilisation": 1.01}, "utilisation: 1.01: must be more than 0 and at most 1"),
    "no number": ({"utilisation": float("nan")}, "utilisation: nan: must be more than 0 and at most 1"),
    "unknown mode": ({"mode": "tidy"}, "mode: 'tidy': must be one of packed, mixed, worker"),
    "more than all jobs": ({"elastic_share": 2.0}, "elastic_share: 2.0: must be between 0 and 1"),
    "unknown elasticity": ({"elasticity": "rubber"}, "elasticity: 'rubber': must be one of tagged, fungible"),
}


@pytest.mark.parametrize(("options", "line"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_one_line(options: dict[str, Any], line: str) -> None:
    """An argument out of its range is refused with its name, value and rule."""
    with pytest.raises(InvalidInput) as caught:
        churn(**options)

    assert str(caught.value) == line
