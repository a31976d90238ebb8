"""Certificates prove what the definition says, and whatever is wrong with one is refused in one line."""

import ast
import json
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import floor, inf
from operator import mul
from pathlib import Path
from random import Random
from typing import Any

import pytest

import gsopt
from gsopt.core.budget import UNLIMITED
from gsopt.core.errors import InvalidInput, TimeUp
from gsopt.core.files import read_data, to_json, validated, write
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Leave
from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.bounds.prices import gangs, price_bound
from gsopt.schedule.certificate import Certificate
from gsopt.schedule.verify import ProofData
from gsopt.schedule.verify_gangs import line
from instances.workloads import elastic, poisson
from tests.effort import cases
from tests.exactness import scheduling as exactness
from tests.gsopt.schedule.damage import damaged
from tests.refusals import refusal

#: What anyone can read, and how long it is at most.
_FILES = {"verify.py": 250, "verify_adaptive.py": 150, "verify_epochs.py": 160, "verify_gangs.py": 80}

#: A price in a certificate, and what it costs there.
UNIT = 8


def _scenario(random: Random, scale: float = 1.0) -> Scenario:
    """Draw a tiny scenario with ties, elastic jobs of any menu, modes and changes of capacity."""
    gpus = random.randint(1, 5)
    jobs = []
    for number in range(random.randint(1, 4)):
        demand = random.randint(1, gpus)
        speeds = [0.1, 0.25, 0.3, 0.5, 0.7, 1.0, 1.0, 1.3, 2.0, 2.7]
        counts = random.sample(range(1, 8), random.randint(0, 4))
        menu = [(demand, 1.0), *((count, random.choice(speeds)) for count in counts if count != demand)]
        modes = [Mode(name="other", menu=[(random.randint(1, 7), random.choice(speeds))])]
        jobs.append(
            Job(
                name=str(number),
                release_date=scale * random.choice([0, 0, 1, 2.5, 4, 9]),
                duration=scale * random.choice([1, 2, 2.75, 5, 8]),
                gpus=demand,
                menu=menu if counts else (),
                modes=modes if random.random() < 0.3 else (),
            )
        )
    changes = sorted({scale * random.choice([0, 1, 3.5, 6]) for _ in range(random.randint(0, 2))})
    return Scenario.of(
        Workload(jobs=jobs),
        gpus,
        capacity_changes=[CapacityChange(time=time, gpus=random.randint(0, gpus)) for time in changes],
    )


def _prices(random: Random, ticks: int) -> tuple[list[int], list[int]]:
    """Draw edges and prices, with ties, jumps and cells shorter and longer than jobs."""
    edges = sorted({0, *(random.randint(1, 16 * ticks) for _ in range(random.randint(0, 7)))})
    if random.random() < 0.5:
        edges = sorted({0, *(random.randint(1, 16) * ticks for _ in range(random.randint(0, 7)))})
    return edges, [random.choice([0, 1, 2, 2, 5, 8, 30]) for _ in edges[1:]]


def _surcharges(random: Random, scenario: Scenario, cells: int) -> list[dict[str, Any]]:
    """Draw surcharges, in cells that may overlap, for jobs with one number of GPUs."""
    most, jobs = scenario.cluster.gpus, scenario.workload.jobs
    ways = [
        {entry for menu in job.speeds.values() for entry in menu.items() if entry[0] <= most} for job in jobs
    ]
    rigid = [number for number, own in enumerate(ways) if len(own) == 1]
    found = []
    for _ in range(random.randint(0, 3) if cells and rigid else 0):
        begin = random.randrange(cells)
        chosen = sorted(random.sample(rigid, random.randint(1, len(rigid))))
        prices = [random.choice([1, 2, 3, 8]) for _ in chosen]
        found.append(
            {"begin": begin, "end": random.randint(begin + 1, cells), "jobs": chosen, "prices": prices}
        )
    return found


def _numbered(data: ProofData, surcharges: list[dict[str, Any]], large: int = 1) -> list[dict[str, Any]]:
    """Return surcharges by places in sorted lines in place of indices of jobs, and in smaller units."""
    order = sorted(range(len(data.jobs)), key=lambda job: line(data.jobs[job]))
    found = []
    for each in surcharges:
        pairs = sorted(
            (order.index(job), large * p) for job, p in zip(each["jobs"], each["prices"], strict=True)
        )
        jobs, prices = zip(*pairs, strict=True)
        found.append({**each, "jobs": jobs, "prices": prices})
    return found


def total(
    data: ProofData,
    ticks: int,
    edges: list[int],
    unit: int,
    prices: list[int],
    surcharges: list[dict[str, Any]] | None = None,
) -> Fraction:
    """Return what prices prove."""
    fields: dict[str, Any] = {"ticks": ticks, "edges": edges, "unit": unit, "prices": prices}
    fields["surcharges"] = surcharges or []
    fields |= {"kind": "mean JCT by prices of GPU time", "jobs": 1, "digest": 64 * "0", "total_jct": "0"}
    return data.total(Certificate(**fields), UNLIMITED)


def naive_total(
    scenario: Scenario,
    ticks: int,
    edges: list[int],
    unit: int,
    prices: list[int],
    surcharges: list[dict[str, Any]] | None = None,
    *,
    rounded: bool = True,
) -> Fraction:
    """Evaluate the definition in fractions, with the knapsack's dual value in place of a greedy choice."""
    first = Fraction(str(scenario.workload.jobs[0].release_date))
    begins: list[Any] = [Fraction(edge, ticks) for edge in edges]
    cells = list(
        zip(
            begins, [*begins[1:], inf], [*(Fraction(price, unit) for price in prices), Fraction(0)], strict=True
        )
    )
    total = Fraction(0)
    for number, job in enumerate(scenario.workload.jobs):
        release = Fraction(str(job.release_date)) - first
        own = [
            (*cell[:2], cell[2] + _more(surcharges, number, place, unit)) for place, cell in enumerate(cells)
        ]
        entries = [
            (gpus, Fraction(str(speed)))
            for menu in job.speeds.values()
            for gpus, speed in menu.items()
            if gpus <= scenario.cluster.gpus
        ]
        best = min(
            (begin - release if begin > release else 0) + bought
            for begin, end, _ in cells
            if end > release
            for bought in [_bought(release, Fraction(str(job.duration)), entries, own, begin)]
            if bought is not None
        )
        total += Fraction(floor(best * unit * ticks), unit * ticks) if rounded else best
    changes = [
        (max(Fraction(str(change.time)) - first, Fraction(0)), change.gpus)
        for change in scenario.capacity_changes
    ]
    changes.insert(0, (Fraction(0), scenario.cluster.gpus))
    for (since, gpus), (until, _) in pairwise([*changes, (inf, 0)]):
        for begin, end, price in cells[:-1]:
            total -= gpus * price * max(Fraction(min(until, end)) - max(since, begin), 0)
    ends = [*(time for time, _ in changes[1:]), None]
    most = max(gpus for (since, gpus), end in zip(changes, ends, strict=True) if end is None or end > since)
    for each in surcharges or ():
        sizes = [min(scenario.workload.jobs[job].speeds[""]) for job in each["jobs"]]
        sets = product([0, 1], repeat=len(sizes))
        fit = [chosen for chosen in sets if sum(map(mul, chosen, sizes)) <= most]
        largest = max(sum(map(mul, chosen, map(mul, sizes, each["prices"]))) for chosen in fit)
        total -= Fraction(largest, unit) * (begins[each["end"]] - begins[each["begin"]])
    return total


def _more(surcharges: list[dict[str, Any]] | None, job: int, cell: int, unit: int) -> Fraction:
    """Return the surcharge that a job pays for a GPU-second in a cell."""
    return sum(
        (
            Fraction(each["prices"][each["jobs"].index(job)], unit)
            for each in surcharges or ()
            if job in each["jobs"] and each["begin"] <= cell < each["end"]
        ),
        Fraction(0),
    )


def _bought(release: Fraction, work: Fraction, entries: Any, cells: Any, last: Fraction) -> Any:
    """Return the least price of a job's work until a cell that begins at `last`, delays in it included."""
    items = []  # seconds, and the cost and work of one of them on each entry
    for begin, end, price in cells:
        if end <= release or begin > last:
            continue
        own = 1 if begin == last else 0
        seconds = (end - max(begin, release)) if end < inf else work * 100
        items.append(
            (seconds, [(gpus * price + own, speed) for gpus, speed in entries] + [(Fraction(0), Fraction(0))])
        )
    if sum(seconds * max(speed for _, speed in ways) for seconds, ways in items) < work:
        return None
    slopes = {
        Fraction(a - b) / (s - t) for _, ways in items for (a, s), (b, t) in combinations(ways, 2) if s != t
    }
    return max(
        slope * work
        - sum(seconds * max(slope * speed - cost for cost, speed in ways) for seconds, ways in items)
        for slope in {Fraction(0), *slopes}
        if slope >= 0
    )


@pytest.mark.parametrize("scale", [1.0, 0.001, 1e-9, 1e6])
def test_the_total_is_that_of_the_definition(scale: float) -> None:
    """For any prices, the check computes what the definition says, in 64 bits and in Python's integers."""
    random = Random(f"definition {scale}")
    for _ in range(cases(200)):
        scenario = _scenario(random, scale)
        data = ProofData.of(scenario)
        ticks = data.ticks * random.choice([1, 1, 3])
        edges, prices = _prices(random, max(int(ticks * scale), 1))
        more = _surcharges(random, scenario, len(prices))
        for large in (1, 2**70):  # the same prices
            given = ticks, edges, UNIT * large, [price * large for price in prices]
            found = total(data, *given, _numbered(data, more, large))
            much = [{**each, "prices": [large * price for price in each["prices"]]} for each in more]
            assert found == naive_total(scenario, *given, much), (scenario, edges, prices, more)


def test_no_total_is_above_the_optimum() -> None:
    """Whatever the prices, tiny instances of all magnitudes have schedules with no lower mean JCT."""
    random = Random("optimum")
    for _ in range(cases(30)):
        problem = exactness.draw(random)
        if problem.fairness is not None or not problem.preemptive:
            continue
        best = gsopt.solve(problem, time_limit=20).objective
        assert best is not None
        scenario = problem.scenario
        data = ProofData.of(scenario)
        proofs = [gsopt.verify(gsopt.certify(scenario, evaluations=random.choice([1, 40])), scenario).total_jct]
        for _ in range(20):
            longest = sum(duration for _, duration, _ in data.jobs)
            ticks = max(data.ticks, int(64 / longest) * data.ticks)
            edges = sorted({0, *(random.randint(1, int(longest * ticks * 2) + 1) for _ in range(5))})
            prices = [random.choice([0, 1, 2, 4, 9]) for _ in edges[1:]]
            more = _numbered(data, _surcharges(random, scenario, len(prices)))
            proofs.append(total(data, ticks, edges, UNIT, prices, more))
        assert max(proofs) <= Fraction(best) * len(data.jobs) * (1 + Fraction(1, 10**8)), problem


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario.of(poisson(jobs=200, gpus=16, load=1.1, seed=3), 16),
        Scenario.of(elastic(jobs=40, gpus=16, load=1.2, seed=1), 16),
        Scenario.of(
            elastic(jobs=40, gpus=16, seed=2), 16, capacity_changes=[CapacityChange(time=3000.5, gpus=9)]
        ),
        Scenario.of(poisson(jobs=50, gpus=16, seed=4), "1x2x8"),
    ],
    ids=["rigid", "elastic", "fewer GPUs", "racks"],
)
def test_it_is_the_bound_by_prices(scenario: Scenario) -> None:
    """A certificate proves what `price_bound` found, but for the rounding of prices."""
    found = price_bound(scenario, evaluations=60)
    proof = gsopt.verify(gsopt.certify(scenario, evaluations=60), scenario)

    assert proof.mean_jct == pytest.approx(found.mean_jct, rel=1e-6)


@pytest.mark.parametrize(("speed", "slowdown"), [({}, 1), ({"T4": 4.0}, 4), ({"T4": 3.3}, 3.3)])
def test_a_slow_type_is_as_slow_as_it_is(speed: dict[str, float], slowdown: float) -> None:
    """On GPUs of one type, a certificate proves what plain GPUs prove for jobs that take longer."""
    jobs = poisson(jobs=50, gpus=4, seed=5).jobs
    longer = [job.model_copy(update={"duration": job.duration * slowdown}) for job in jobs]
    cluster = Cluster(racks=[Rack(name="r", machines=[Machine(name="m", gpus=4, gpu_type="T4")])])
    slow = Scenario.of(Workload(jobs=jobs), cluster, speed=Speed(gpu_types=speed))

    proof = gsopt.verify(gsopt.certify(slow, evaluations=60), slow)
    assert proof.mean_jct == pytest.approx(price_bound(slow, evaluations=60).mean_jct, rel=1e-6)
    same = gsopt.certify(Workload(jobs=longer), cluster=4, evaluations=60)
    assert proof.mean_jct * len(jobs) == pytest.approx(float(Fraction(same.total_jct)), rel=1e-3)


@pytest.mark.parametrize(("speed", "slowdown"), [({"a": 1.0}, 1), ({"a": 1.3, "b": 1.3}, 1.3)])
def test_types_of_equal_stated_speed_are_alike(speed: dict[str, float], slowdown: float) -> None:
    """Two types with the same slowdown prove what plain GPUs prove for jobs that take longer."""
    jobs = _small().workload.jobs
    longer = [job.model_copy(update={"duration": job.duration * slowdown}) for job in jobs]
    alike = Scenario.of(Workload(jobs=jobs), RACKS, speed=Speed(gpu_types=speed))

    proof = gsopt.verify(gsopt.certify(alike, evaluations=60), alike)
    same = gsopt.certify(Workload(jobs=longer), cluster=8, evaluations=60)
    assert proof.mean_jct * len(jobs) == pytest.approx(float(Fraction(same.total_jct)), rel=1e-3)


def test_types_that_jobs_require_leave_the_bound_valid() -> None:
    """Of types that are equally fast, a certificate ignores which one a job or its mode requires."""
    other = Mode(name="m", menu=((1, 0.5), (2, 1.0)), gpu_type="b")
    jobs = [
        job.model_copy(update={"gpu_type": "a", "modes": (other,) if job.gpus == 2 else ()})
        for job in _small().workload.jobs
    ]
    tied = Scenario.of(Workload(jobs=jobs), RACKS)

    proof = gsopt.verify(gsopt.certify(tied, evaluations=60), tied)
    untied = [
        job.model_copy(
            update={"gpu_type": "", "modes": tuple(Mode(name="m", menu=other.menu) for _ in job.modes)}
        )
        for job in jobs
    ]
    free = gsopt.certify(Workload(jobs=untied), cluster=8, evaluations=60)
    assert proof.total_jct == Fraction(free.total_jct)


def test_jobs_far_apart_are_certified() -> None:
    """Between jobs that come decades apart GPUs are free, and the bound counts both."""
    jobs = [
        Job(name=f"{place}-{n}", release_date=place, duration=60, gpus=1)
        for place in (0, 1e9)
        for n in range(20)
    ]
    scenario = Scenario.of(Workload(jobs=jobs), 2)

    proof = gsopt.verify(gsopt.certify(scenario, evaluations=60), scenario)
    assert proof.mean_jct == pytest.approx(price_bound(scenario, evaluations=60).mean_jct, rel=1e-6)


def _small(**changes: Any) -> Scenario:
    """Return twenty jobs on four GPUs, all times shifted, then scaled, and the jobs in another order."""
    shift, scale, order = (
        changes.pop(name, default) for name, default in (("shift", 0), ("scale", 1), ("order", 1))
    )
    jobs = [
        Job(
            name=f"{changes.get('prefix', '')}{n}",
            release_date=scale * (shift + n // 3 * 2),
            duration=scale * (1 + n % 7),
            gpus=1 + n % 2,
        )
        for n in range(20)
    ]
    return Scenario.of(Workload(jobs=jobs[::order]), 4)


def test_shift_scale_and_order() -> None:
    """Shifted, renamed and reordered jobs have the same certificate; scaled ones prove a scaled bound."""
    certificate = gsopt.certify(_small(), evaluations=60)

    for same in (_small(shift=1000), _small(order=-1), _small(prefix="job ")):
        assert gsopt.verify(certificate, same).total_jct == Fraction(certificate.total_jct)
    for scale in (0.001, 60, 86400):
        scaled = gsopt.certify(_small(scale=scale), evaluations=60)
        assert Fraction(scaled.total_jct) == pytest.approx(
            float(Fraction(certificate.total_jct)) * scale, rel=1e-5
        )
        assert "digest" in refusal(gsopt.verify, certificate, _small(scale=scale))


def test_what_only_delays_jobs_changes_nothing() -> None:
    """Overheads and phases leave a certificate valid."""
    scenario = _small()
    jobs = [
        job.model_copy(update={"phases": (Phase(until=1, slowdown=2.0),)}) for job in scenario.workload.jobs
    ]
    slower = Scenario.of(Workload(jobs=jobs), 4, overheads={"start": 3.0, "resize": 1.0})

    assert gsopt.verify(gsopt.certify(scenario, evaluations=30), slower).jobs == 20
    assert gsopt.certify(slower, evaluations=30).digest == gsopt.certify(scenario, evaluations=1).digest


RACKS = Cluster(racks=[Rack(name="r", machines=[Machine(name=name, gpus=4, gpu_type=name) for name in "ab"])])
PAIR = Cluster.uniform(racks=1, machines=2, gpus=2)
JOBS = Workload(jobs=[Job(name="a", release_date=0, duration=5, gpus=1, model="bert", batch_size=8)])


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (Scenario.of(Workload(jobs=[]), 4), "workload.jobs: 0: must hold a job for a certificate"),
        (Scenario.of(JOBS, PAIR, share_limit=2), "share_limit: 2: must be 1 for a certificate"),
        (
            Scenario.of(JOBS, RACKS, speed=Speed(gpu_types={"a": 2.0})),
            "cluster: ['a', 'b']: must have equally fast GPUs for a certificate",
        ),
        (
            Scenario.of(JOBS, PAIR, events=[Leave(time=3, servers=[PAIR.machines[0].name])]),
            "events: 1: must be empty for a certificate",
        ),
    ],
    ids=["no jobs", "sharing", "types", "events"],
)
def test_what_is_not_covered_is_refused(given: Scenario, rule: str) -> None:
    """What the proof does not cover is refused in one line, by both sides."""
    certificate = gsopt.certify(_small(), evaluations=1)
    for call in (lambda: gsopt.verify(certificate, given), lambda: gsopt.certify(given)):
        assert refusal(call).startswith(rule)


def test_every_claim_is_checked() -> None:
    """Another claim, other jobs, another cluster and other prices are refused, each for its reason."""
    scenario = _small()
    certificate = gsopt.certify(scenario, evaluations=30)
    total = Fraction(certificate.total_jct)
    more = Scenario.of(
        Workload(jobs=[*scenario.workload.jobs, Job(name="z", release_date=0, duration=1, gpus=1)]), 4
    )
    for changes, given, rule in (
        ({"total_jct": str(total + Fraction(1, 10**9))}, scenario, "certificate: total_jct: "),
        ({"total_jct": str(total - 1)}, scenario, f"must be '{total}', which the prices prove"),
        (
            {"prices": [*certificate.prices[:-1], certificate.prices[-1] + 1]},
            scenario,
            "certificate: total_jct: ",
        ),
        ({"ticks": certificate.ticks * 2}, scenario, "certificate: total_jct: "),
        ({"unit": certificate.unit * 2}, scenario, "certificate: total_jct: "),
        ({"jobs": 19}, scenario, "certificate: jobs: 19: must be the 20 of the data"),
        ({}, more, "certificate: jobs: 20: must be the 21 of the data"),
        ({}, Scenario.of(scenario.workload, 5), "certificate: digest: "),
        ({}, _small(scale=2), "certificate: digest: "),
        ({"ticks": 1}, _small(scale=0.5), "certificate: digest: "),
    ):
        assert rule in refusal(gsopt.verify, certificate.model_copy(update=changes), given)
    halves = gsopt.certify(_small(scale=0.5), evaluations=1).model_copy(update={"ticks": 3})
    assert "certificate: ticks: 3: must be a multiple of 2" in refusal(gsopt.verify, halves, _small(scale=0.5))


def _around_a_gang() -> tuple[Scenario, Certificate]:
    """Return jobs of one GPU beside a gang of two, of four GPUs, and their certificate with surcharges."""
    rows = [(0, 10, 2), (0, 10, 1), (0, 10, 1), (0, 10, 1), (10, 10, 1), (10, 10, 1), (10, 10, 1)]
    jobs = [Job(name=str(n), release_date=r, duration=p, gpus=k) for n, (r, p, k) in enumerate(rows)]
    elastic = Job(name="e", release_date=30, duration=10, gpus=1, menu=((1, 1.0), (2, 1.5)))
    scenario = Scenario.of(Workload(jobs=[elastic, *jobs]), 4)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gangs, "_EVALUATIONS", 300)
        return scenario, gsopt.certify(scenario, evaluations=100, gangs=1)


def test_surcharges_prove_what_was_found() -> None:
    """With surcharges, a certificate proves more than without, whatever the order of jobs."""
    scenario, certificate = _around_a_gang()
    turned = Scenario.of(Workload(jobs=scenario.workload.jobs[::-1]), 4)

    assert certificate.surcharges
    assert gsopt.verify(certificate, scenario).mean_jct == certificate.mean_jct
    assert gsopt.verify(certificate, turned).total_jct == Fraction(certificate.total_jct)
    assert certificate.mean_jct > gsopt.certify(scenario, evaluations=100).mean_jct * 1.01


def test_wrong_surcharges_are_refused() -> None:
    """A job that is listed twice, has several menus or does not exist is refused, and cells that do not."""
    scenario, certificate = _around_a_gang()
    fields = json.loads(to_json(certificate))
    elastic = sorted(map(line, ProofData.of(scenario).jobs)).index("30 10 1:1 2:3/2")
    for changes, rule in (
        ({"jobs": [1, 1], "prices": [1, 1]}, "surcharges[0].jobs[1]: 1: must rise"),
        ({"jobs": [2, 1], "prices": [1, 1]}, "surcharges[0].jobs[1]: 1: must rise"),
        (
            {"jobs": [1], "prices": [1, 1]},
            "surcharges[0].prices: '2 prices': must be one for each of the 1 jobs",
        ),
        ({"jobs": [8], "prices": [1]}, "surcharges[0].jobs: 8: must be below 8, the number of jobs"),
        ({"jobs": [elastic], "prices": [1]}, f"surcharges[0].jobs: {elastic}: must be a job that can only run"),
        ({"end": len(certificate.edges)}, "surcharges[0].end: "),
        ({"end": fields["surcharges"][0]["begin"]}, "surcharges[0].end: "),
        ({"jobs": fields["surcharges"][0]["jobs"][:1], "prices": [1]}, "total_jct: "),
    ):
        more = [{**fields["surcharges"][0], **changes}, *fields["surcharges"][1:]]
        text = json.dumps({**fields, "surcharges": more})
        assert rule in refusal(
            lambda text=text: gsopt.verify(validated(Certificate, "a.json", text), scenario)
        ), changes


def test_the_time_limit_holds() -> None:
    """Without time there is no answer."""
    with pytest.raises(TimeUp, match="the time limit passed before the certificate was checked"):
        gsopt.verify(gsopt.certify(_small(), evaluations=1), _small(), time_limit=0)


def test_a_certificate_is_a_file(tmp_path: Path) -> None:
    """Written and read, it is the same, and proves the same."""
    path, certificate = tmp_path / "a.cert.json", gsopt.certify(_small(), evaluations=30)
    write(certificate, path)

    assert read_data(Certificate, path) == certificate
    assert str(gsopt.verify(path, _small())) == (
        f"no schedule of these 20 jobs on 4 GPUs has a mean JCT below {certificate.mean_jct:,} s"
    )
    assert certificate.mean_jct <= Fraction(certificate.total_jct) / 20


def test_damaged_certificates_are_refused(tmp_path: Path) -> None:
    """Whatever is changed in a file, it is refused in one line, or is no worse a proof than before."""
    random, path = Random("damage"), tmp_path / "a.json"
    known = [(_small(), to_json(gsopt.certify(_small(), evaluations=30)))]
    known += [(scenario, to_json(certificate)) for scenario, certificate in [_around_a_gang()]]
    refused = 0
    for number in range(cases(1000)):
        scenario, text = known[number % 2]
        total = Fraction(json.loads(text)["total_jct"])
        path.write_text(damaged(random, text), encoding="utf-8")
        try:
            found, line = gsopt.verify(path, scenario).total_jct, f"{path}: "
        except InvalidInput as error:
            found, line = total, str(error)
            refused += 1
        assert found == total
        assert line.startswith(f"{path}: ")
        assert "\n" not in line
        assert len(line) < 600

    assert refused >= 0.8 * cases(1000)  # a price of 0 may move, and a digit become itself


@pytest.mark.parametrize(("name", "lines"), _FILES.items())
def test_the_check_stands_alone(name: str, lines: int) -> None:
    """Its files import nothing of the bounds, have few lines, and no division or constant in floats."""
    text = (Path(gsopt.__file__).parent / "schedule" / name).read_text(encoding="utf-8")
    tree = list(ast.walk(ast.parse(text)))

    assert text.count("\n") <= lines
    imported = {node.module for node in tree if isinstance(node, ast.ImportFrom)}
    assert not any("bounds" in str(name) or "simulation" in str(name) for name in imported)
    assert name == "verify_epochs.py" or not any(isinstance(node, ast.Div) for node in tree)  # of fractions
    assert not any(isinstance(node, ast.Constant) and isinstance(node.value, float) for node in tree)
