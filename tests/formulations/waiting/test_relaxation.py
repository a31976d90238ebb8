"""The relaxation of counted GPUs: a bound on any slots, and rows for what needs a move."""

from formulations.waiting.best import Best
from formulations.waiting.instance import SlottedInstance, SlottedRun
from formulations.waiting.intervals import intervals
from formulations.waiting.latest import latest_ends
from formulations.waiting.relaxation import Relaxation
from formulations.waiting.split import find_conflict
from gsopt.core.budget import Budget
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.solvers.scaling import optimize
from instances.waiting import tier_jobs


def test_places_within_others_that_are_as_fast_have_no_columns() -> None:
    """A job that runs as fast in a rack as on a machine is counted in the rack, one on a GPU on its machine."""
    jobs = [Job(name=str(g), release_date=0, duration=10, gpus=g, model="resnet50") for g in (1, 2)]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(racks=2, machines=2, gpus=2), jobs=jobs))
    model = Relaxation(instance, latest_ends(instance, 20))

    assert model.places == ((0, 1, 2, 3), (4, 5, 6))
    assert {instance.places[place].tier for place in model.places[1]} == {1, 2}


def test_times_that_are_no_slots_give_a_bound_that_holds() -> None:
    """On longer slots times are rounded down: the bound is below the optimum, and near it."""
    problem = tier_jobs(jobs=5, seed=3)
    exact = intervals(problem)
    best = Best(SlottedInstance.of(problem), Budget(start=exact.solution), "test")
    assert best.value is not None
    latest = latest_ends(best.instance, best.value)
    bounds = []
    for factor in (1, 2, 4):
        model = Relaxation(best.instance.coarser(factor), latest)
        assert model.instance.is_exact == (factor == 1)
        start = model.point(model.instance.choices(best.known))
        assert model.form().violation(start) == 0
        bounds.append(optimize(model.form(), Budget(), costs=model.costs, start=start).bound)

    assert all(bound is not None and bound <= best.value for bound in bounds)
    assert bounds == sorted(bounds, key=lambda bound: -(bound or 0))
    assert bounds[2] is not None
    assert bounds[2] > 0.7 * best.value


def test_a_conflict_is_a_row_that_the_schedule_breaks() -> None:
    """Three jobs of three GPUs that start together on four: the row forbids two of them, and no list."""
    jobs = [Job(name=n, release_date=0, duration=10, gpus=3) for n in "abc"]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=jobs))
    model = Relaxation(instance, latest_ends(instance, 20))
    together = [SlottedRun(0, 2), SlottedRun(1, 2), SlottedRun(0, 2)]
    conflict = find_conflict(instance, together, Budget())
    assert conflict == [0, 2]
    form = model.without(model.form(), together, conflict)
    one_by_one = [SlottedRun(0, 2), SlottedRun(1, 2), SlottedRun(2, 2)]

    assert form.rows[-1].startswith("conflict")
    assert (form.matrix @ model.point(together))[-1] == 2
    assert form.violation(model.point(one_by_one)) == 0
