"""Pricers: the way of pricing follows the amounts."""

from formulations.placement.labels import Labels
from formulations.placement.packing import Packing
from formulations.placement.pricers import pricer
from formulations.placement.table import WorthTable
from gsopt.problems.placement import Placement, Resources, Server, Workers
from instances.placement import elastic, vectors


def test_the_pricer_follows_the_amounts() -> None:
    """Cores and GB fit a table, thousandths and MiB do not, and a zone without servers needs nothing."""
    coarse = Packing.of(vectors(types=3, workers=900))
    fine = Packing.of(
        Placement(
            servers=(Server(name="s", capacity=Resources(gpu=8000, cpu=96_001, memory=400_003)),),
            workers=(
                Workers(job="a", count=200, demand=Resources(gpu=470, cpu=3_001, memory=7)),
                Workers(job="b", count=200, demand=Resources(gpu=1000, cpu=4_000, memory=10)),
            ),
        )
    )
    one_pool = Packing.of(elastic(jobs=3, inference=0, training=20))

    assert isinstance(pricer(coarse, coarse.zones[0]), WorthTable)
    assert isinstance(pricer(fine, fine.zones[0]), Labels)
    assert pricer(one_pool, one_pool.zones[1]) is None


def test_single_workers_are_no_crowd() -> None:
    """Where there is one worker of each demand a table would count workers that do not exist."""
    packing = Packing.of(vectors(types=30, workers=30, training=30, inference=0))

    assert isinstance(pricer(packing, packing.zones[0]), Labels)
