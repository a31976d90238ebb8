"""What slots and patterns share."""

from formulations.consolidation import divisible
from formulations.consolidation.case import Case
from formulations.consolidation.merged import Indices
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster


def indices(*gpus: int) -> Indices:
    """Return the index sets for jobs of a sensitive model on racks with two and one machines of four GPUs."""
    jobs = [Job(name=str(index), gpus=each, model="resnet18") for index, each in enumerate(gpus)]
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    return Indices(Case.of(Consolidation(cluster=cluster, busy=[8, 9, 10, 11], jobs=jobs)))


def test_columns_are_only_where_jobs_fit() -> None:
    """Six GPUs fit on no machine and not on the second rack."""
    found = indices(2, 6)
    racks, root = found.case.vacancy.levels[1], found.case.vacancy.root
    assert found.alone == [(2, racks[0]), (2, racks[1])]
    assert found.across == [(2, racks[0]), (2, racks[1]), (2, root), (6, racks[0]), (6, root)]


def test_jobs_of_one_demand_share_places() -> None:
    """Numbers by demand become numbers by kind: each job that is taken gets one of the places."""
    found = indices(2, 2, 6)
    stays, spared = divisible.choose(
        {"take[0,0]": 2.0, f"alone[2,{found.case.vacancy.levels[1][1]}]": 2.0}, found.case
    )
    assert dict(stays) == {(0, 2): 2}
    assert list(spared) == []
