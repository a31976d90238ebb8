"""Castor: its policy by hand and line by line, the baseline that shares without looking, and best pairs."""

from fractions import Fraction
from itertools import permutations, product
from random import Random
from typing import Any

import pytest
from networkx import Graph, max_weight_matching

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.simulation import Decider, Policy, Start, State, replay
from gsopt.simulation.parts.partners import Match
from gsopt.testing import check_policy
from heuristics.policies import best_pairs, sjf, sjf_bsbf, sjf_ffs
from heuristics.policies.castor.colocating import Colocating
from heuristics.policies.castor.pairing import Pairing, assign_partners
from heuristics.policies.castor.patient import Patience, Patient
from tests.effort import cases
from tests.heuristics.policies.castor_algorithms import literal
from tests.heuristics.policies.shared import drawn, halves, held, job, machine, run

#: A machine of two GPUs of 8 bytes each.
PAIR = machine(2, memory=8)


@pytest.mark.parametrize("rough", [False, True])
def test_algorithm_line_by_line(rough: bool) -> None:
    """Nothing else is decided where pairs that were refused are remembered than where all are looked at."""
    random = Random(7)
    for _ in range(cases(100)):
        scenario = drawn(random, rough=rough)
        ours, plain = (replay(scenario, each, exact=True, record=True) for each in (sjf_bsbf, literal))
        assert ours.schedule == plain.schedule


@pytest.mark.parametrize(
    ("a", "b", "slowdown", "options", "ends"),
    [
        (4, 1, 2, {}, (5, 2)),  # sharing gives 5 + 2 s, waiting 4 + 5
        (4, 1, 2, {"rule": "sign"}, (4, 5)),  # the sign of a function that is not there
        (4, 1, 2, {"rule": "cases"}, (5, 2)),
        (1, 1, 3, {}, (1, 2)),  # sharing gives 3 + 3 s, waiting 1 + 2
        (1, 1, 3, {"rule": "cases"}, (3, 3)),  # Case 1 always shares as printed
    ],
)
def test_theorem(a: float, b: float, slowdown: float, options: Any, ends: tuple[float, float]) -> None:
    """Two jobs share where that gives the smaller sum; the printed tests are options, and fail."""
    jobs = job("a", 0, a + 1, 2), job("b", 1, b, 2)  # whoever runs has a second behind it
    replayed = run(sjf_bsbf, *jobs, cluster=PAIR, slowdown=slowdown, **options)
    assert replayed.completion_times == (ends[0] + 1, ends[1] + 1)


@pytest.mark.parametrize(
    ("memory", "options", "mode"),
    [
        (2, {}, ""),  # for the new job the whole batch is best
        (4, {}, "2 steps"),
        (6, {}, "4 steps"),  # the last one is tried too
        (7, {}, None),
        (4, {"batches": "whole"}, None),  # as printed
        (2, {"batches": "whole"}, ""),
    ],
)
def test_sub_batches_within_the_memory(memory: int, options: Any, mode: str | None) -> None:
    """The largest sub-batch that fits beside the running job is taken, and kept when that has completed."""
    modes = [halves(2, 0.8, 2, steps=4), halves(2, 0.9, 4)]
    jobs = job("a", 0, 9, 2, memory=memory), job("b", 1, 9, 2, memory=6, modes=modes)
    replayed = run(sjf_bsbf, *jobs, cluster=PAIR, **options)
    assert [(start, name) for start, _, name in held(replayed, "b")] == [(9, "") if mode is None else (1, mode)]
    assert [name for _, _, name in held(replayed, "a")] == [""]


def test_a_job_of_one_sample_shares() -> None:
    """A batch that cannot be divided is tried like any other."""
    jobs = job("a", 0, 9, 2), job("b", 1, 3, 2, batch_size=1)
    assert run(sjf_bsbf, *jobs, cluster=PAIR).completion_times == (9, 4)


@pytest.mark.parametrize(("ties", "mode"), [("larger", ""), ("smaller", "2 steps")])
def test_ties_of_sub_batches(ties: str, mode: str) -> None:
    """Of sub-batches with equal means the larger one is taken, or the smaller one as printed."""
    jobs = job("a", 0, 9, 2), job("b", 1, 3, 2, modes=[halves(2, 1.0)])
    assert held(run(sjf_bsbf, *jobs, cluster=PAIR, ties=ties), "b") == [(1, (0, 1), mode)]


@pytest.mark.parametrize(("speed", "start"), [(0.5, 1), (0.4, 5)])
def test_waiting_is_with_the_whole_batch(speed: float, start: float) -> None:
    """In halves 4 s take 8 or 10 s: 4 + 8 s beside the other is as much as 4 + 8 after it, and 4 + 10 more."""
    jobs = job("a", 0, 5, 2, memory=5), job("b", 1, 4, 2, memory=6, modes=[halves(2, speed)])
    assert held(run(sjf_bsbf, *jobs, cluster=PAIR), "b")[0][0] == start


def test_a_partner_gives_what_is_missing() -> None:
    """Of a job on three GPUs one is taken, and the next job takes the others, which it still has to itself."""
    jobs = job("a", 0, 9, 3), job("b", 1, 3, 1), job("c", 1, 4, 2)
    replayed = run(sjf_bsbf, *jobs, cluster=machine(3))
    assert [held(replayed, name) for name in "bc"] == [[(1, (0,), "")], [(1, (1, 2), "")]]


@pytest.mark.parametrize(("free_first", "gpus"), [(False, (0, 1, 2)), (True, (0, 2, 3))])
def test_shared_gpus_come_before_free_ones(free_first: bool, gpus: tuple[int, ...]) -> None:
    """Three GPUs are those of the running job and a free one, or all free ones and one that is shared."""
    jobs = job("a", 0, 9, 2), job("b", 1, 3, 3)
    assert held(run(sjf_bsbf, *jobs, cluster=machine(4), free_first=free_first), "b") == [(1, gpus, "")]


def test_too_few_gpus_leave_a_job_waiting() -> None:
    """With one GPU to share and two free ones a job of four waits, and is asked again when a third is free."""
    jobs = job("a", 0, 9, 1), job("x", 0, 5, 1), job("b", 1, 9, 4)
    slow = {"x": {"b": 6.0}, "b": {"x": 6.0}}
    assert held(run(sjf_bsbf, *jobs, cluster=machine(4), slowdowns=slow), "b") == [(5, (0, 1, 2, 3), "")]


@pytest.mark.parametrize(("seconds", "partner"), [(6, "b"), (8, "a")])
def test_partners_come_by_the_mean_of_the_pair(seconds: float, partner: str) -> None:
    """The shorter of two running jobs makes the smaller mean; of equal ones the lower number is taken."""
    jobs = job("a", 0, 8, 1), job("b", 0, seconds, 1), job("c", 1, 3, 1)
    replayed = run(sjf_bsbf, *jobs, cluster=PAIR, slowdown=1.25)
    assert held(replayed, "c")[0][:2] == (1, held(replayed, partner)[0][1])


def test_the_worst_partner_rules() -> None:
    """Beside two partners a job is as slow as beside the worse one, and faster when that has completed."""
    slow = {"c": {"a": 2.0, "b": 1.25}}
    jobs = job("a", 0, 3, 1), job("b", 0, 9, 1), job("c", 1, 4, 2)
    replayed = run(sjf_bsbf, *jobs, cluster=PAIR, slowdowns=slow)
    assert replayed.completion_times == (3, 9, 3 + Fraction(15, 4))


@pytest.mark.parametrize(("order", "first"), [("time", "a"), ("gpus", "b"), ("gpu_time", "c")])
def test_orders(order: str, first: str) -> None:
    """The smallest job is that of the least time, of the fewest GPUs, or of the least product."""
    jobs = job("a", 0, 2, 4), job("b", 0, 9, 1), job("c", 0, 3, 2)
    start, gpus, _ = held(run(sjf_bsbf, *jobs, cluster=machine(4), order=order), first)[0]
    assert (start, gpus[0]) == (0, 0)


@pytest.mark.parametrize(("skip", "start"), [(True, 2), (False, 6)])
def test_skipping(skip: bool, start: float) -> None:
    """Jobs behind one that cannot start do so, with no GPUs kept for it, or wait for it."""
    jobs = job("a", 0, 5, 1), job("b", 1, 1, 2), job("c", 2, 8, 1)
    assert run(sjf_bsbf, *jobs, cluster=PAIR, slowdown=6.0, skip=skip).start_times[2] == start


@pytest.mark.parametrize(("placement", "gpu"), [("best", 4), ("first", 3), ("emptiest", 6)])
def test_placements(placement: str, gpu: int) -> None:
    """Free GPUs are those of the tightest machine, of the first one, or of the one with the most."""
    machines = [Machine(name=f"m{gpus}", gpus=gpus) for gpus in (4, 2, 3)]
    jobs = job("a", 0, 9, 3), job("b", 1, 9, 1)
    replayed = run(
        sjf_bsbf, *jobs, cluster=Cluster(racks=[Rack(name="r", machines=machines)]), placement=placement
    )
    assert held(replayed, "b") == [(1, (gpu,), "")]


@pytest.mark.parametrize(("of_a", "of_b", "start"), [(1.1, 3.0, 1), (3.0, 1.1, 3)])
def test_slowdowns_are_those_of_the_pair(of_a: float, of_b: float, start: float) -> None:
    """Beside each other both are slower, each as it is: swapped slowdowns lead to another decision."""
    jobs = job("a", 0, 3, 2), job("b", 1, 4, 2)
    replayed = run(sjf_bsbf, *jobs, cluster=PAIR, slowdowns={"a": {"b": of_a}, "b": {"a": of_b}})
    assert replayed.start_times == (0, start)


@pytest.mark.parametrize("cluster", [Cluster.plain(8), machine(8)])
def test_without_sharing_it_is_shortest_job_first(cluster: Cluster) -> None:
    """In a plain cluster, and where a GPU has one job, it does what shortest job first does."""
    random = Random(3)
    sizes = [(random.randint(0, 9), random.randint(1, 9), random.randint(1, 8)) for _ in range(30)]
    jobs = [job(f"j{index}", *size) for index, size in enumerate(sizes)]
    ours, plain = (run(policy, *jobs, cluster=cluster, share_limit=1) for policy in (sjf_bsbf, sjf))
    assert ours.completion_times == plain.completion_times


@pytest.mark.parametrize(
    ("policy", "seed", "options"),
    [
        (sjf_bsbf, 11, {"rule": "sign", "free_first": True, "skip": False, "placement": "emptiest"}),
        (sjf_bsbf, 11, {"ties": "smaller", "batches": "whole"}),
        (sjf_ffs, 12, {"free_first": True, "skip": False, "placement": "first", "order": "gpu_time"}),
        (best_pairs, 13, {"order": "gpu_time", "several": True, "placement": "first"}),
        *[(policy, 10, {}) for policy in (sjf_bsbf, sjf_ffs, best_pairs)],
    ],
)
def test_check(policy: Policy, seed: int, options: dict[str, Any]) -> None:
    """Every replay is legal, repeatable and within the bound, whatever the options."""
    random = Random(seed)
    scenarios = [drawn(random, rough=rough) for rough in (False, True) for _ in range(4)]
    assert check_policy(policy, scenarios, **options) == 16


@pytest.mark.parametrize(
    ("policy", "option"),
    [
        *product([sjf_bsbf, sjf_ffs, best_pairs], ["order", "placement"]),
        *product([sjf_bsbf], ["rule", "batches", "ties", "wait_for"]),
    ],
)
def test_words(policy: Policy, option: str) -> None:
    """A word that an option does not know is refused in one line with those that it knows."""
    options: dict[str, Any] = {option: "neither"}
    with pytest.raises(InvalidInput, match=f"^{option}: 'neither': must be one of "):
        run(policy, job("a", 0, 5, 2), job("b", 1, 1, 2), cluster=PAIR, **options)


def test_it_shares_where_that_costs() -> None:
    """Two jobs of 1 s that are three times slower beside each other take 3 s each instead of 1 and 2."""
    jobs = job("a", 0, 2, 2), job("b", 1, 1, 2)
    assert run(sjf_ffs, *jobs, cluster=PAIR, slowdown=3.0).completion_times == (4, 4)
    assert run(sjf_bsbf, *jobs, cluster=PAIR, slowdown=3.0).completion_times == (2, 3)


def test_it_shares_only_where_gpus_are_too_few() -> None:
    """A job that fits on free GPUs takes those, and the first shared ones else."""
    jobs = job("a", 0, 9, 1), job("b", 1, 9, 1), job("c", 2, 9, 1)
    replayed = run(sjf_ffs, *jobs, cluster=PAIR, slowdown=1.5)
    assert [held(replayed, name) for name in "bc"] == [[(1, (1,), "")], [(2, (0,), "")]]


@pytest.mark.parametrize("policy", [sjf_ffs, best_pairs])
@pytest.mark.parametrize(("memory", "start", "mode"), [(2, 1, ""), (4, 1, "2 steps"), (7, 9, "")])
def test_memory(policy: Policy, memory: int, start: float, mode: str) -> None:
    """A job starts in the largest, or best, sub-batch that fits beside its partner; if none does it waits."""
    jobs = job("a", 0, 9, 2, memory=memory), job("b", 1, 9, 2, memory=6, modes=[halves(2, 0.9, 4)])
    assert held(run(policy, *jobs, cluster=PAIR), "b") == [(start, (0, 1), mode)]


def test_beside_two_partners_the_smaller_sub_batch_counts() -> None:
    """One partner leaves room for the whole batch and the other for halves, in which the job starts."""
    jobs = job("a", 0, 9, 1, memory=2), job("b", 0, 9, 1, memory=4), job("c", 1, 9, 2, memory=6)
    divided = jobs[2].model_copy(update={"modes": (halves(2, 0.9, 4),)})
    assert held(run(sjf_ffs, *jobs[:2], divided, cluster=PAIR), "c") == [(1, (0, 1), "2 steps")]


def test_together_is_better_than_one_by_one() -> None:
    """The shorter job leaves its best partner to the other, which suits nobody else."""
    jobs = job("a", 0, 8, 1), job("b", 0, 9, 1), job("c", 1, 2, 1), job("d", 1, 3, 1)
    slow = {"b": {"d": 9.0}, "d": {"b": 9.0}}
    together, alone = (run(policy, *jobs, cluster=PAIR, slowdowns=slow) for policy in (best_pairs, sjf_bsbf))
    assert together.completion_times == (8, 9, 3, 4)
    assert alone.completion_times == (8, 9, 3, 6)


def test_pairs_that_save_nothing_wait() -> None:
    """Two jobs of 1 s that are three times slower beside each other do not share."""
    assert run(best_pairs, job("a", 0, 2, 2), job("b", 1, 1, 2), cluster=PAIR, slowdown=3.0).start_times == (
        0,
        2,
    )


def test_ties_wait_in_floats_too() -> None:
    """With slowdowns of 1.5 sharing is exactly as good as waiting, whatever the sums of seconds round to."""
    jobs = job("a", 11.125, 5.226, 2), job("b", 11.725, 6.445, 2)
    for exact in (True, False):
        replayed = run(best_pairs, *jobs, cluster=PAIR, slowdown=1.5, exact=exact)
        assert [float(time) for time in replayed.start_times] == pytest.approx([11.125, 16.351])


@pytest.mark.parametrize(("several", "start", "behind"), [(False, 9, 9), (True, 1, 6)])
def test_several_partners(several: bool, start: float, behind: float) -> None:
    """A job that is wider than each partner waits, or shares with two of them; pairs come before it."""
    jobs = job("a", 0, 9, 1), job("b", 0, 9, 2), job("wide", 1, 1, 3)
    assert held(run(best_pairs, *jobs, cluster=machine(3), several=several), "wide")[0][:2] == (
        start,
        (0, 1, 2),
    )
    more = *jobs, job("c", 1, 5, 2)
    assert run(best_pairs, *more, cluster=machine(3), several=several).start_times[2:] == (behind, 1)


def anybody(state: State, **options: Any) -> Decider:
    """Let every pair share, the partner with the lower number first."""
    return Colocating(state, key=lambda job: job, judge=lambda _s, _j, partner, _g: Match(partner), **options)


def nobody(state: State, **options: Any) -> Decider:
    """Let no pair share."""
    return Colocating(state, key=lambda job: job, judge=lambda *_pair: None, **options)


def test_the_order_is_that_of_the_key() -> None:
    """Jobs that come at the same time take free GPUs in turn, then shared ones, and the last one waits."""
    jobs = [job(f"j{i}", 0, 2, 1) for i in range(5)]
    replayed = run(anybody, *jobs, cluster=machine(2))
    assert [held(replayed, f"j{i}")[0][:2] for i in range(5)] == [
        (0, (0,)),
        (0, (1,)),
        (0, (0,)),
        (0, (1,)),
        (2, (0,)),
    ]


@pytest.mark.parametrize(("share_first", "gpu"), [(False, 1), (True, 0)])
def test_sharing_first(share_first: bool, gpu: int) -> None:
    """A job may seek partners before it looks at free GPUs, which it takes if it has none."""
    first = run(anybody, job("a", 0, 5, 1), job("b", 1, 5, 1), cluster=machine(2), share_first=share_first)
    assert held(first, "b")[0][1] == (gpu,)
    alone = run(nobody, job("a", 0, 5, 1), job("b", 1, 5, 1), cluster=machine(2), share_first=share_first)
    assert held(alone, "b")[0][1] == (1,)


def test_a_third_job_never_joins() -> None:
    """Where two jobs are on all GPUs the next one waits, even if the limit is three."""
    jobs = [job(f"j{i}", i, 9, 2) for i in range(3)]
    assert run(anybody, *jobs, cluster=machine(2), share_limit=3).start_times == (0, 1, 9)


def _drawn(random: Random, jobs: int, partners: int) -> dict[int, dict[int, int]]:
    values = {
        each: {partner: random.randint(1, 20) for partner in range(partners) if random.random() < 0.6}
        for each in range(100, 100 + jobs)
    }
    return {each: own for each, own in values.items() if own}


def test_assigned_partners_are_the_best() -> None:
    """The sum is that of enumeration, and that of networkx where there are too many for this."""
    random = Random(5)
    for _ in range(100):
        values = _drawn(random, random.randint(1, 4), random.randint(1, 4))
        nobody = [None] * len(values)
        most = max(
            sum(own.get(partner, 0) for own, partner in zip(values.values(), order, strict=False))
            for order in permutations([*range(4), *nobody], len(values))
        )
        assert _sum(values, assign_partners(values)) == most
    for _ in range(10):
        values = _drawn(random, 20, 15)
        graph = Graph()
        for each, own in values.items():
            graph.add_weighted_edges_from((each, partner, value) for partner, value in own.items())
        matched = (sorted(pair) for pair in max_weight_matching(graph))
        assert _sum(values, assign_partners(values)) == sum(values[job][partner] for partner, job in matched)


def _sum(values: dict[int, dict[int, int]], chosen: dict[int, int]) -> int:
    assert len(set(chosen.values())) == len(chosen)
    return sum(values[job][partner] for job, partner in chosen.items())


@pytest.mark.parametrize("values", [{}, {3: {1: 1e-9}}, {3: {1: 1e9, 2: 1e9}}])
def test_small_cases(values: dict[int, dict[int, float]]) -> None:
    """Without pairs there is none; tiny values count, and ties go to anybody."""
    assert list(assign_partners(values)) == list(values)


def _anybody(state: State, *, several: bool = False) -> Decider:
    """Let every pair share, all of them alike."""
    return Pairing(state, key=lambda job: job, judge=lambda *_pair: Match(-1), several=several)


def test_a_running_job_is_matched_until_it_has_no_gpus_left() -> None:
    """Three jobs of one GPU join one on three, a fourth waits, and one of two GPUs never shares one only."""
    jobs = [job("wide", 0, 4, 3), *(job(f"j{i}", 1, 9, 1) for i in range(4))]
    assert run(_anybody, *jobs, cluster=machine(3)).start_times == (0, 1, 1, 1, 4)
    assert run(_anybody, *jobs[:3], job("pair", 2, 9, 2), cluster=machine(3)).start_times == (0, 1, 1, 10)


@pytest.mark.parametrize("seed", range(cases(24)))
def test_the_ranks_of_the_pairs_have_the_least_sum(seed: int) -> None:
    """Who starts beside whom is the best of all ways in which three jobs can join three."""
    random = Random(seed)
    ranks = {(job, partner): -random.random() for job in (3, 4, 5) for partner in (0, 1, 2)}
    taken: dict[int, int] = {}

    def judge(_state: State, job: int, partner: int, gpus: tuple[int, ...]) -> Match:
        taken[gpus[0]] = partner
        return Match(ranks[job, partner])

    replayed = run(
        lambda state: Pairing(state, key=lambda job: job, judge=judge),
        *(job(f"j{i}", i // 3, 99, 1) for i in range(6)),
        cluster=machine(3),
    )
    begun = {number: held(replayed, f"j{number}")[0][1][0] for number in (3, 4, 5)}
    found = sum(ranks[number, taken[gpu]] for number, gpu in begun.items())
    least = min(
        sum(ranks[pair] for pair in zip((3, 4, 5), order, strict=True)) for order in permutations(range(3))
    )
    assert found == pytest.approx(least, rel=SUM)


def test_several_partners_and_free_gpus_together() -> None:
    """A job that is too wide for the free GPUs and for a partner starts on both, if it may have several."""
    jobs = job("a", 0, 9, 2), job("b", 1, 9, 4)
    starts = [run(_anybody, *jobs, cluster=machine(4), several=each).start_times for each in (False, True)]
    assert starts == [(0, 9), (0, 1)]


def test_free_gpus_come_first() -> None:
    """A job that fits on free GPUs takes them in its turn, whatever a pair would be worth."""
    replayed = run(_anybody, *(job(f"j{i}", i, 9, 1) for i in range(3)), cluster=machine(2))
    assert [held(replayed, f"j{i}")[0][1] for i in range(3)] == [(0,), (1,), (0,)]


def full_machine(random: Random) -> Scenario:
    """Draw jobs that fill a machine, and a last one that may share with several of them."""
    sizes = [random.randint(1, 3) for _ in range(3)]
    jobs = [
        Job(name=f"j{i}", release_date=0, duration=random.uniform(2, 20), gpus=size, model=f"j{i}")
        for i, size in enumerate(sizes)
    ]
    wanted = random.randint(1, sum(sizes))
    halves = Mode(name="halves", menu=[(wanted, 0.5)], steps=2)
    seconds = random.uniform(1, 20)
    new = Job(name="new", release_date=1, duration=seconds, gpus=wanted, model="new", modes=[halves])
    jobs.append(new)
    slowdowns = {
        one.name: {other.name: random.choice((1.0, 1.25, 1.5, 3.0)) for other in jobs if other != one}
        for one in jobs
    }
    return Scenario(
        workload=Workload(jobs=jobs),
        cluster=Cluster.uniform(machines=1, gpus=sum(sizes)),
        speed=Speed(interference=slowdowns),
        share_limit=2,
    )


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("now", [True, False])
def test_sums_come_true(now: bool, exact: bool) -> None:
    """Whether the new job shares or waits, it and its partners complete when it was said, in floats too."""
    for seed in range(cases(150)):
        scenario, said = full_machine(Random(seed)), list[tuple[Fraction, set[int]]]()
        mode = "halves" if seed % 2 else ""

        def patience(state: State, start: Start, said: list[tuple[Fraction, set[int]]] = said) -> bool:
            assert isinstance(start.gpus, tuple)
            involved = {start.job, *(user for gpu in start.gpus for user in state.users(gpu))}
            sharing, waiting = Patient().sums(state, start)
            said.append((sharing if now else waiting, involved))
            return now

        def policy(state: State, patience: Patience = patience, mode: str = mode) -> Decider:
            return Colocating(state, float, lambda *pair: Match(pair[2], mode), patience=patience)

        run = replay(scenario, policy, exact=exact, record=True)
        assert run.schedule is not None
        ends = {segment.job: Fraction(segment.end) for segment in run.schedule.segments}
        total, involved = said[0]
        names = [scenario.workload.jobs[job].name for job in involved]
        expected = sum(ends[name] - 1 for name in names)
        assert total == expected if exact else float(total) == pytest.approx(float(expected))


@pytest.mark.parametrize("seconds", [13, 26, 29])
def test_rounding_ends_no_partner(seconds: float) -> None:
    """The other job has all of its rest before it, though floats leave a crumb of the new job's work."""
    jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 99), ("b", 1, seconds)]]
    scenario = Scenario(
        workload=Workload(jobs=jobs),
        cluster=Cluster.uniform(machines=1, gpus=1),
        speed=Speed(default_interference=1.37),
        share_limit=2,
    )
    said: list[float] = []

    def patience(state: State, start: Start) -> bool:
        said.append(Patient().sums(state, start)[0])
        return True

    def policy(state: State) -> Decider:
        return Colocating(state, float, lambda *pair: Match(rank=pair[2]), patience=patience)

    ends = replay(scenario, policy).completion_times
    assert seconds > seconds / (1 / 1.37) * (1 / 1.37)  # the crumb
    assert said == [pytest.approx(sum(end - 1 for end in ends if end is not None))]


def test_a_job_waits_for_gpus_that_are_free_sooner() -> None:
    """Castor shares with a job of 19 s though another GPU is free in a second; with patience it waits."""
    jobs = job("long", 0, 20, 1), job("short", 0, 2, 1), job("new", 1, 10, 1)
    ends = [
        run(sjf_bsbf, *jobs, cluster=PAIR, slowdown=1.7, wait_for=wait, exact=False).completion_times
        for wait in ("partner", "gpus")
    ]
    assert ends == [(27, 2, 18), (20, 2, 12)]


def test_a_job_that_disturbs_nobody_starts() -> None:
    """Beside somebody whom it does not slow down a job does not wait, nor does it where all GPUs are free."""
    jobs = job("a", 0, 5, 1), job("b", 1, 2, 1)
    assert run(sjf_bsbf, *jobs, cluster=machine(1), wait_for="gpus").completion_times == (5, 3)
