"""Forms of jobs."""

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.speed import linear_menu
from heuristics.policies.aryl.forms import forms_of
from heuristics.policies.aryl.machines import Machines
from tests.heuristics.policies.aryl.scenes import either, job, pools


@pytest.mark.parametrize(
    ("counts", "worker", "base"),
    [
        ([16], 8, 2),
        ([12], 6, 2),
        ([11], 1, 11),
        ([9], 3, 3),
        ([8, 16], 8, 1),
        ([8, 10, 16], 2, 4),
        ([4, 6], 2, 2),
        ([3], 3, 1),
    ],
)
def test_workers(counts: list[int], worker: int, base: int) -> None:
    """A worker has the largest divisor of all numbers of GPUs that is at most a machine's."""
    one = Job(name="a", release_date=0, duration=9, gpus=counts[0], menu=linear_menu(counts[0], counts))
    (form,) = forms_of(one, Machines(Cluster.uniform(machines=3, gpus=8), "T4"))
    assert (form.worker_gpus, form.base, form.base_gpus) == (worker, base, counts[0])
    assert form.is_elastic == (len(counts) > 1)


def test_workers_fit_every_machine() -> None:
    """The smallest machine that suits bounds a worker, and workers are smaller where they would not all fit."""
    sizes = [3, 3, 3]
    racks = [Rack(name="r", machines=[Machine(name=str(n), gpus=size) for n, size in enumerate(sizes)])]
    machines = Machines(Cluster(racks=racks), "")
    found = [forms_of(job("a", 0, 9, gpus, gpu_type=""), machines)[0].worker_gpus for gpus in (6, 8)]
    assert found == [3, 1]  # four workers of two GPUs find three machines of three
    racks = [Rack(name="r", machines=[Machine(name=str(size), gpus=size) for size in (8, 4)])]
    assert forms_of(job("a", 0, 9, 8, gpu_type=""), Machines(Cluster(racks=racks), ""))[0].worker_gpus == 4


def test_counts_beyond_the_machines_are_left_out() -> None:
    """Numbers of GPUs that no empty cluster could hold are not among the speeds."""
    (form,) = forms_of(job("a", 0, 9, 8, 32), Machines(pools(2, 0), "T4"))
    assert form.speeds == (1.0, 2.0)


def test_forms_by_preference() -> None:
    """Elastic jobs prefer the inference pool, others the training pool; without grouping all do."""
    machines = Machines(pools(2, 2), "T4")
    both = [either("a", 0, 9, 4, 8), either("b", 0, 9, 4)]
    assert [[form.pool for form in forms_of(each, machines)] for each in both] == [
        ["inference", "training"],
        ["training", "inference"],
    ]
    assert [form.pool for form in forms_of(both[0], machines, training_first=True)] == ["training", "inference"]


def test_mixed_forms_come_last() -> None:
    """A job of any type is mixed where the pools differ, and prefers a mode of its own for one of them."""
    any_type = job("a", 0, 9, 4, gpu_type="")
    own = any_type.model_copy(update={"modes": (Mode(name="own", gpu_type="T4", menu=[(4, 0.5)]),)})
    machines = Machines(pools(1, 1), "T4")
    assert [(form.pool, form.mode) for form in forms_of(own, machines)] == [("inference", "own"), ("mixed", "")]
    assert [form.pool for form in forms_of(any_type, Machines(pools(2, 0), "T4"))] == ["training"]


def test_the_first_mode_of_a_pool_counts() -> None:
    """Of several modes for a pool the first one in which the job fits is taken."""
    modes = [Mode(name="first", menu=[(2, 0.5)]), Mode(name="second", menu=[(1, 0.3)])]
    fitting, large = (job("a", 0, 9, gpus, modes=modes) for gpus in (1, 9))
    machines = Machines(pools(1, 0), "T4")
    assert [forms_of(each, machines)[0].mode for each in (fitting, large)] == ["", "first"]
