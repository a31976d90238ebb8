"""What single rules do, on instances that can be followed by hand."""

from collections.abc import Mapping
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.admission import Admission, Gang, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster
from heuristics.admission import (
    greedy,
    kai,
    kai_consolidate,
    kube_scheduler,
    kueue,
    kueue_fair,
    slurm,
    volcano,
    volcano_preempt,
    workload_aware,
)
from instances.admission import latest_is_widest, restarts_elsewhere
from tests.heuristics.results import solved, value


def _run(name: str, on: Mapping[str, int], gpus: int = 8, **fields: Any) -> Running:
    part = Part(count=sum(on.values()), needs=Resources(gpu=gpus))
    machines = {f"machine {place}": number for place, number in on.items()}
    return Running(name=name, parts=[part], on=[machines], **fields)


def _problem(
    running: list[Running],
    *,
    workers: int = 1,
    gpus: int = 8,
    racks: int = 1,
    machines: int = 2,
    slice_of: int = 0,
    **fields: Any,
) -> Admission:
    part = Part(
        count=workers,
        needs=Resources(gpu=gpus),
        slice=slice_of,
        slice_within="rack" if slice_of else "",
    )
    return Admission(
        cluster=Cluster.uniform(racks=racks, machines=machines, gpus=8),
        running=running,
        pending=[Gang(**{"name": "p", "parts": [part], "priority": 9, **fields})],
    )


def test_slurm_puts_the_last_to_stop_first() -> None:
    """The smallest stops first in vain; in the next attempt the one that made room comes first."""
    running = [_run("small", {"0.0": 1}, 2), _run("large", {"0.0": 1}, 6), _run("wide", {"0.1": 1, "0.2": 1})]
    problem = _problem(running, machines=3, gpus=6)

    assert solved(slurm(problem)).evicted == ("large",)
    assert solved(slurm(_problem(running, machines=3, gpus=7))).evicted == ("small", "large")


def test_slurm_spares_those_that_are_not_in_the_way() -> None:
    """Gangs that stopped without making room where the pending gang goes are not evicted."""
    running = [
        _run("kept", {"0.0": 1}, 4, protected=True),
        _run("a", {"0.0": 1}, 4),
        _run("b", {"0.1": 1}, 4, priority=1),
        _run("c", {"0.1": 1}, 4, priority=1),
    ]

    assert sorted(solved(slurm(_problem(running), reorder_count=0)).evicted) == ["b", "c"]


def test_slurm_youngest_first_ignores_priorities() -> None:
    """With youngest_first the latest gang goes, whatever its priority."""
    running = [_run("old", {"0.0": 1}, started=1.0), _run("new", {"0.1": 1}, started=2.0, priority=5)]

    assert solved(slurm(_problem(running))).evicted == ("old",)
    assert solved(slurm(_problem(running), youngest_first=True)).evicted == ("new",)


def test_slurm_reorders_more_than_it_says() -> None:
    """A count of 0 still changes the order once: four small gangs stop before the large one helps alone."""
    running = [_run(f"s{each}", {"0.0": 1}, 1) for each in range(4)]
    running.append(_run("large", {"0.0": 1}, 4, priority=1))
    problem = _problem(running, machines=1, gpus=5)

    assert solved(slurm(problem, reorder_count=0, strict_order=True)).evicted == ("large", "s0")


def test_workload_aware_with_one_placement_evicts_more() -> None:
    """The proposal places the pending gang on the emptiest machine; the code finds the cheaper one later."""
    running = [_run("vital", {"0.0": 1}, priority=5), _run("minor", {"0.1": 1})]
    problem = _problem(running)

    assert solved(workload_aware(problem)).evicted == ("minor",)
    assert solved(workload_aware(problem, placing="once")).evicted == ("vital",)


def test_volcano_stops_after_some_domains() -> None:
    """A domain with room for the gang is never reached if too many before it lack victims."""
    running = [_run("kept", {"0.0": 1}, protected=True), _run("a", {"1.0": 1})]
    problem = _problem(running, racks=2, machines=1, within="rack")

    assert solved(volcano(problem)).evicted == ("a",)
    assert volcano(problem, max_domains=1).solution is None


def test_volcano_gives_nothing_back() -> None:
    """A gang that stopped before another made room stays evicted."""
    running = [_run("a", {"0.0": 1}, 1), _run("b", {"0.0": 1}, 7, priority=1)]
    problem = _problem(running, machines=1, gpus=7)

    assert solved(volcano(problem)).evicted == ("a", "b")
    assert solved(kueue(problem)).evicted == ("b",)


def test_volcano_preempt_knows_no_levels() -> None:
    """Jobs with a level are not admitted, others on the fullest machine."""
    running = [_run("a", {"0.0": 1}, 4), _run("b", {"0.1": 1}, 8, priority=1)]

    assert solved(volcano_preempt(_problem(running))).evicted == ("b",)
    assert volcano_preempt(_problem(running, within="rack")).solution is None


def test_kube_scheduler_stops_gangs_that_free_other_machines() -> None:
    """The second worker takes the room that the first one's victim leaves elsewhere."""
    running = [_run("wide", {"0.0": 1, "0.2": 1}), _run("b", {"0.1": 1}), _run("c", {"0.3": 1})]

    assert solved(kube_scheduler(_problem(running, workers=2, machines=4))).evicted == ("wide",)


def test_kube_scheduler_prefers_the_emptiest_machine() -> None:
    """The small worker goes to the empty machine, although it fits beside a, and the large ones miss it."""
    running = [_run("a", {"0.0": 1}, 4), _run("b", {"0.2": 1})]
    parts = [Part(needs=Resources(gpu=4)), Part(count=2, needs=Resources(gpu=8))]

    assert solved(kube_scheduler(_problem(running, machines=3, parts=parts))).evicted == ("a", "b")


def test_kube_scheduler_stays_in_a_group_that_can_hold_all() -> None:
    """The first worker does not go to a rack where the second could never follow."""
    running = [
        _run("tempting", {"0.0": 1}, priority=-5),
        _run("kept", {"0.1": 1}, protected=True),
        _run("c", {"1.0": 1}),
        _run("d", {"1.1": 1}),
    ]
    problem = _problem(running, workers=2, racks=2, within="rack")

    assert solved(kube_scheduler(problem)).evicted == ("c", "d")


def test_greedy_counts_no_more_gpus_than_are_needed() -> None:
    """The wide gang costs less for each of its GPUs, but more for each of the eight that are needed."""
    running = [_run("wide", {"0.0": 1, "0.1": 1}, cost=9.0), _run("single", {"0.2": 1}, cost=6.0)]

    assert solved(greedy(_problem(running, machines=3))).evicted == ("single",)


def test_greedy_lets_the_dearest_gangs_resume_first() -> None:
    """After a, b and c have stopped, a or b may go on: b, which costs more."""
    running = [
        _run("a", {"0.0": 1}, 2, cost=1.0),
        _run("b", {"0.0": 1}, 2, cost=1.4),
        _run("c", {"0.0": 1}, 4, cost=4.0),
    ]

    assert solved(greedy(_problem(running, machines=1, gpus=6))).evicted == ("a", "c")


def test_volcano_preempt_regards_the_room_that_victims_leave() -> None:
    """The first worker leaves six GPUs on its machine, so that the other machine is now the fullest."""
    running = [_run("a", {"0.0": 1}), _run("b", {"0.1": 1}, 7)]

    assert solved(volcano_preempt(_problem(running, workers=2, gpus=2))).evicted == ("a", "b")


def test_the_largest_workers_are_placed_first() -> None:
    """The worker of two GPUs leaves the empty machine to that of eight."""
    parts = [Part(needs=Resources(gpu=2)), Part(needs=Resources(gpu=8))]
    problem = _problem([_run("a", {"0.1": 1}, 6)], parts=parts)

    assert solved(greedy(problem)).placed == {"p": ({"machine 0.1": 1}, {"machine 0.0": 1})}


def test_slices_go_to_the_groups_that_hold_most() -> None:
    """One slice would fit in the first rack; both fit in the second."""
    problem = _problem([_run("a", {"0.0": 1, "0.1": 1})], workers=4, slice_of=2, racks=2, machines=4)

    (places,) = solved(greedy(problem)).placed["p"]
    assert set(places) == {f"machine 1.{number}" for number in range(4)}


@pytest.mark.parametrize("rule", [greedy, kueue, kai, slurm, volcano, workload_aware, kube_scheduler])
def test_slices_stay_together(rule: Any) -> None:
    """Two slices of two workers need two racks with two machines each, so one gang is enough."""
    running = [_run("a", {"0.0": 1}), _run("b", {"1.0": 1}, protected=True), _run("c", {"2.0": 1})]
    problem = _problem(running, workers=4, slice_of=2, racks=3)

    assert len(solved(rule(problem)).evicted) == 2


def test_kai_evicts_whole_gangs_for_single_machines() -> None:
    """The latest gang is stopped on four machines for a worker on one, though a single machine would do."""
    running = [
        _run("single", {"0.0": 1}, started=1.0),
        _run("wide", {f"0.{each}": 1 for each in range(1, 5)}, started=2.0),
    ]

    assert solved(kai(_problem(running, machines=5))).evicted == ("wide",)


def test_kai_doubles_the_number_of_workers() -> None:
    """Victims are sought for one worker, two and four: gang 3 would make room for the third one only."""
    running = [
        _run("4", {"0.3": 1, "0.4": 1}, started=1.0),
        _run("3", {"0.0": 1}, started=2.0),
        _run("2", {"0.1": 1}, started=3.0),
        _run("1", {"0.2": 1}, started=4.0),
    ]

    assert set(solved(kai(_problem(running, workers=4, machines=5))).evicted) == {"1", "2", "4"}


def test_kai_returns_those_last_that_it_gathered_first() -> None:
    """There is room elsewhere for one of two like gangs: the one that was gathered last."""
    running = [_run(name, {"0.0": 1}, 4, move_cost=1.0) for name in ("a", "b")]
    running.append(_run("c", {"0.1": 1}, 4, protected=True))

    found = solved(kai(_problem(running)))
    assert (found.evicted, list(found.moved)) == (("a",), ["b"])


def test_kai_stops_gangs_on_more_machines_if_enough_gpus_do_not_do() -> None:
    """Sixteen GPUs would be enough for three workers of five, but each machine holds only one."""
    running = [_run(name, {f"0.{number}": 1}) for number, name in enumerate("abc")]
    problem = _problem(running, workers=3, gpus=5, machines=3)

    assert set(solved(kai(problem, node_local=False)).evicted) == {"a", "b", "c"}


def test_kai_prefers_machines_that_would_have_the_fewest_free_gpus() -> None:
    """Once the wide gang is gathered, the worker fits on both machines; the second has two GPUs less."""
    running = [
        _run("a", {"0.0": 1}, 4, started=3.0),
        _run("b", {"0.1": 1}, 2, started=2.0),
        _run("wide", {"0.0": 1, "0.1": 1}, 4, started=1.0),
        _run("kept", {"0.1": 1}, 2, protected=True),
    ]

    assert set(solved(kai(_problem(running, gpus=5), node_local=False)).evicted) == {"b", "wide"}


def test_kai_places_workers_on_the_fullest_machine() -> None:
    """The wide gang leaves eight free GPUs on one machine, and four on the other, which is fuller."""
    running = [
        _run("wide", {"0.0": 2, "0.1": 1}, 4),
        _run("kept", {"0.1": 1}, 4, protected=True),
    ]

    assert solved(kai(_problem(running, gpus=4))).placed == {"p": ({"machine 0.1": 1},)}


def test_kai_moves_what_fits_elsewhere() -> None:
    """Victims that may be moved go to the half of a machine that is free; others are evicted."""
    running = [
        _run("a", {"0.0": 1}, 4, started=1.0),
        _run("b", {"0.1": 1}, 2, started=2.0),
        _run("c", {"0.1": 1}, 2, started=3.0),
    ]
    movable = [gang.model_copy(update={"move_cost": 0.5}) for gang in running]

    assert sorted(solved(kai(_problem(running))).evicted) == ["b", "c"]
    solution = solved(kai(_problem(movable)))
    assert (solution.evicted, sorted(solution.moved)) == ((), ["b", "c"])


def test_kai_consolidate_looks_at_few_candidates() -> None:
    """With a limit of one, the code lets two candidates pass, and three would be needed."""
    running = [
        _run(name, {place: 1}, 2, move_cost=1.0, started=float(number))
        for number, (name, place) in enumerate([("a", "0.0"), ("b", "0.1"), ("c", "0.1"), ("d", "0.1")])
    ]
    problem = _problem(running)

    assert sorted(solved(kai_consolidate(problem, max_preemptees=2)).moved) == ["b", "c", "d"]
    assert kai_consolidate(problem, max_preemptees=1).solution is None
    assert kai_consolidate(problem, max_preemptees=0).solution is None


def test_kai_consolidate_needs_enough_free_gpus() -> None:
    """Nothing moves if the free GPUs do not suffice in all."""
    running = [_run("a", {"0.0": 1}, 6, move_cost=1.0), _run("b", {"0.1": 1}, 6, move_cost=1.0)]

    assert kai_consolidate(_problem(running, gpus=5)).solution is None


def test_greedy_spares_the_dearest() -> None:
    """The cheapest per GPU stop first, and resume if they did not help; the best pair is missed."""
    running = [
        _run("a", {"0.0": 1}, 4, cost=1.0),
        _run("b", {"0.1": 1}, 8, cost=5.0),
        _run("c", {"0.0": 1}, 4, cost=3.0),
    ]

    assert solved(greedy(_problem(running))).evicted == ("b",)


def test_kueue_counts_gangs_that_it_has_admitted() -> None:
    """The first pending gang uses up the quota of its queue, so the second must not reclaim any more."""
    running = [_run(f"b{each}", {f"0.{each}": 1}, queue="b") for each in range(3)]
    one = _problem(running, machines=3, queue="a")
    (first,) = one.pending
    two = one.model_copy(update={"pending": (first, first.model_copy(update={"name": "second"}))})

    assert len(solved(kueue(one, quotas={"a": 8, "b": 8})).evicted) == 1
    assert kueue(two, quotas={"a": 8, "b": 8}).solution is None
    assert len(solved(kueue(two, quotas={"a": 16, "b": 8})).evicted) == 2


def test_kueue_fair_uses_weights() -> None:
    """A queue with a large weight has a small share, so the other gives up more."""
    running = [_run(f"b{each}", {f"0.{each}": 1}, queue="b") for each in range(3)]
    problem = _problem(running, workers=2, machines=3, queue="a")

    assert kueue_fair(problem).solution is None
    assert sorted(solved(kueue_fair(problem, weights={"a": 2.0})).evicted) == ["b0", "b1"]


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        (slurm, {"reorder_count": -1}, "reorder_count: -1: must be at least 0"),
        (volcano, {"max_domains": 0}, "max_domains: 0: must be at least 1, or None"),
        (workload_aware, {"placing": "twice"}, "placing: 'twice': must be"),
        (kueue_fair, {"weights": {"a": 0.0}}, "weights"),
        (kai_consolidate, {"max_preemptees": -1}, "max_preemptees: -1: must be at least 0, or None"),
    ],
)
def test_wrong_options_are_refused(rule: Any, options: dict[str, Any], message: str) -> None:
    """The message names the option, its value and the rule."""
    with pytest.raises(InvalidInput, match=message.replace("[", ".")):
        rule(_problem([]), **options)


def test_the_latest_gang_may_be_the_widest() -> None:
    """For 8 GPUs, rules that take the latest gang first evict 64; others evict the 8 that are needed."""
    problem = latest_is_widest()

    for rule in (kueue, kueue_fair, kai, volcano, kube_scheduler):
        assert value(rule(problem)) == 64
    for rule in (greedy, slurm, workload_aware, volcano_preempt):
        assert value(rule(problem)) == 8


def test_an_incident_in_which_376_gpus_restarted_for_48() -> None:
    """Rules that take the latest gang first restart 120 GPUs for 32, and 256 for 16; others restart 32."""
    problem = restarts_elsewhere()

    assert [gang.gpus for gang in problem.pending] == [32, 16]
    for found in (solved(kai(problem)), solved(kai_consolidate(problem))):
        assert [gang.gpus for gang in problem.running if gang.name in found.moved] == [120, 256]
        assert not found.evicted
    assert value(kueue(problem)) == value(kueue_fair(problem)) == 376
    for rule in (greedy, slurm, workload_aware, kube_scheduler):
        assert value(rule(problem)) == 32
