"""The tree of free GPUs."""

from formulations.consolidation.vacancy import Vacancy
from gsopt.problems.consolidation import Consolidation
from gsopt.scenario.cluster import Cluster, Machine, Rack, Switch
from tests.strategies.consolidation import seeds


def vacancy(cluster: Cluster, busy: list[int]) -> Vacancy:
    """Return the free GPUs of a cluster."""
    return Vacancy.of(Consolidation(cluster=cluster, busy=busy, jobs=[]))


def test_groups_without_free_gpus_are_left_out() -> None:
    """Of two racks of two machines one machine is full, and so are both of the other rack."""
    found = vacancy(Cluster.uniform(racks=2, machines=2, gpus=2), [0, 1, 2, 4, 5, 6, 7])
    assert [(node.level, node.parent, node.free) for node in found.nodes] == [(0, 1, 1), (1, 2, 1), (2, 2, 1)]
    assert found.gpus == ((3,),)
    assert found.stems == (1,)


def test_a_full_cluster_is_one_empty_group() -> None:
    """The whole cluster is there, with nothing free."""
    found = vacancy(Cluster.uniform(machines=2, gpus=1), [0, 1])
    assert [(node.level, node.free) for node in found.nodes] == [(2, 0)]
    assert (found.gpus, found.stems, found.room) == ((), (), (0, 0, 0))


def test_machines_without_a_busy_gpu_are_whole() -> None:
    """A machine with one busy GPU is not whole."""
    found = vacancy(Cluster.uniform(machines=3, gpus=2), [3])
    assert [node.whole for node in found.nodes[:3]] == [True, False, True]


def test_paths_lead_through_every_level() -> None:
    """In a tree with pods a GPU stands in its machine, rack, pod and the cluster."""
    racks = [Rack(name=f"r{r}", machines=[Machine(name=f"m{r}", gpus=2)]) for r in range(4)]
    pods = [Switch(name=f"p{p}", level="pod", switches=racks[2 * p : 2 * p + 2]) for p in range(2)]
    found = vacancy(Cluster(network=Switch(name="all", level="network", switches=pods)), [])
    assert [[found.nodes[v].level for v in found.path(leaf)] for leaf in range(4)] == [[0, 1, 2, 3]] * 4
    assert [found.around(0, level) for level in range(4)] == [0, 4, 8, 10]
    assert found.leaves[8] == (0, 1)


def test_a_group_has_the_free_gpus_of_what_is_inside() -> None:
    """On any tree the free GPUs of a group are those of its innermost groups."""
    for problem in seeds(40):
        found = Vacancy.of(problem)
        for v, node in enumerate(found.nodes):
            assert node.free == sum(len(found.gpus[leaf]) for leaf in found.leaves[v])
        assert found.nodes[found.root].free == problem.free_gpus
