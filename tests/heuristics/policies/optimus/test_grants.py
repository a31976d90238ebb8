"""Grants: steps of menus, and GPUs of several kinds."""

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.simulation.parts.pool import Count, Kinds
from heuristics.policies.optimus.candidates import Candidate
from heuristics.policies.optimus.granting import Grants


def test_a_step_takes_what_it_adds() -> None:
    """A job on two GPUs needs two more for four."""
    pool = Count()
    pool.give_back(4)
    grants = Grants(pool, {})
    job = Candidate(0, Job(name="a", release_date=0, duration=9, gpus=2), (2, 4, 6), (9.0, 6.0, 5.0))
    assert [grants.rung(job), grants.grow(job), grants.grow(job), grants.grow(job)] == [-1, True, True, False]
    assert (grants.holdings, pool.free) == ({0: 4}, 0)
    grants.set(job, 0)
    assert (grants.holdings, pool.free) == ({0: 2}, 2)


def test_only_gpus_that_suit_a_job_count() -> None:
    """A job gets GPUs of its type only, and first those that it held."""
    machines = [Machine(name=kind, gpus=2, gpu_type=kind) for kind in ("V100", "T4")]
    pool = Kinds(Cluster(racks=[Rack(name="r", machines=machines)]))
    pool.give_back((2, 2))
    grants = Grants(pool, {1: (0, 1)})
    typed = Job(name="a", release_date=0, duration=9, gpus=1, gpu_type="V100")
    other = Job(name="b", release_date=0, duration=9, gpus=1)
    assert grants.grow(Candidate(1, other, (1,), (9.0,)))
    picky = Candidate(0, typed, (2, 3), (9.0, 8.0))
    assert [grants.grow(picky), grants.may_grow(picky)] == [True, False]
    assert grants.holdings == {1: (0, 1), 0: (2, 0)}
