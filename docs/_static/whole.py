"""Write the table of whole traces into the page of suites, from stored rows and certificates.

``python docs/_static/whole.py DATA NAME ...`` first measures the named scenarios on the data in a folder, and
stores their rows and certificates. Without arguments, the table is written from the stored rows.
"""

import json
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import gsopt
from gsopt.schedule.bounds.certify import certificate_of
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from gsopt.schedule.verify import ProofData, verify
from gsopt.simulation import Decider, State, replay
from gsopt.simulation.parts.greedy import Greedy
from gsopt.studies.improve import improve
from heuristics.policies import srsf, srtf
from instances import traces
from instances.scenarios.whole import FILE as ROWS

DOCS = Path(__file__).parents[1]

#: Where certificates are kept, and the page that shows the rows.
CERTIFICATES, PAGE = DOCS / "_static" / "certificates", DOCS / "suites.md"


class Whole(NamedTuple):
    """A scenario: a whole trace as rigid jobs without overheads, on a plain cluster.

    The data file is given relative to the folder of data. Jobs that need more GPUs than there are do not count.
    """

    reader: Callable[..., Any]
    file: str
    gpus: int
    evaluations: int = 600
    cells: int = 2_000
    tries: int = 0  # number of further schedules that are tried

    def scenario(self, data: Path) -> gsopt.Scenario:
        """Read the scenario from a folder of data."""
        return gsopt.Scenario.of(self.reader(data / self.file, max_gpus=self.gpus).workload, self.gpus)


#: Power of the number of GPUs in the ranks of jobs: the best of 0, 0.1, 0.25, 0.5 and 1 on Crux.
_POWER = 0.25

SCENARIOS = {
    "philly-82k": Whole(traces.philly, "", 512),
    "philly-111k": Whole(traces.philly, "philly_full/philly_trace.csv.gz", 512),
    "venus": Whole(traces.helios, "helios_venus_full/helios_trace.csv.gz", 640),
    "crux": Whole(traces.crux, "crux_lingjun", 1_024, evaluations=1_800, tries=400),
}


def by_slopes(state: State, slopes: tuple[float, ...]) -> Decider:
    """Run the jobs with the highest price of one more second of work per GPU, skipping jobs that do not fit.

    The prices are those of a bound, so the whole trace is known in advance.
    """
    return Greedy(state, key=lambda job: -slopes[job] / state.jobs[job].gpus)


def ranked(state: State, power: float, multipliers: Mapping[str, float]) -> Decider:
    """Run the jobs with the least remaining seconds times a power of their GPUs, times their own multiplier."""

    def rank(number: int) -> float:
        job = state.jobs[number]
        own: float = job.gpus**power * multipliers.get(job.name, 1.0)
        return own * state.remaining(number)

    return Greedy(state, key=rank)


def improved(scenario: gsopt.Scenario, tries: int) -> dict[str, Any]:
    """Return the options of `ranked` with the lowest mean JCT that this many tries find."""
    with TemporaryDirectory() as folder:
        found = improve(scenario, partial(ranked, power=_POWER), f"{folder}/found.json", tries=tries)
    return {"power": _POWER, "multipliers": found.multipliers}


def policies(found: PriceBound) -> dict[str, Any]:
    """Return the policies whose schedules are tried, by name."""
    return {"srsf": srsf, "srtf": srtf, "by_slopes": partial(by_slopes, slopes=found.slopes)}


def measured(name: str, data: Path) -> dict[str, Any]:
    """Return the row of a scenario, and store its certificate."""
    whole = SCENARIOS[name]
    scenario = whole.scenario(data)
    begin = process_time()
    found = price_bound(scenario, evaluations=whole.evaluations, cells=whole.cells)
    bounded = process_time()
    options = improved(scenario, whole.tries) if whole.tries else None
    tried = policies(found) | ({} if options is None else {"improved": partial(ranked, **options)})
    values = {each: replay(scenario, policy).metrics.mean_jct for each, policy in tried.items()}
    simulated = process_time()
    certificate = certificate_of(found, ProofData.of(scenario))
    text = certificate.model_dump_json() + "\n"
    (CERTIFICATES / f"{name}.json").write_text(text)
    certified = process_time()
    proof = verify(certificate, scenario)
    best = min(values, key=values.__getitem__)
    return {
        "name": name,
        "reader": whole.reader.__name__,
        "file": whole.file,
        "jobs": len(scenario.workload.jobs),
        "gpus": whole.gpus,
        "digest": certificate.digest,
        "value": values[best],
        "policy": best,
        "values": values,
        "improved": options,
        "bound": proof.mean_jct,
        "certificate": sha256(text.encode()).hexdigest(),
        "seconds": {
            "bound": bounded - begin,
            "schedules": simulated - bounded,
            "certificate": certified - simulated,
            "verification": process_time() - certified,
        },
        "gigabytes": getrusage(RUSAGE_SELF).ru_maxrss / 1e6,
        "by": "gsopt",
        "version": version("gsopt"),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table, one line per scenario."""
    text = "| scenario | jobs | GPUs | mean JCT, s | schedule | proven bound, s | gap | bracket, processor s "
    text += "| verification, processor s | version | date |\n|:--|--:|--:|--:|:--|--:|--:|--:|--:|:--|--:|\n"
    for row in rows:
        seconds = row["seconds"]
        spent = seconds["bound"] + seconds["schedules"] + seconds["certificate"]
        cells = [
            f"[{row['name']}](_static/certificates/{row['name']}.json)",
            f"{row['jobs']:,}",
            f"{row['gpus']:,}",
            f"{row['value']:,.1f}",
            f"`{row['policy']}`",
            f"{row['bound']:,.1f}",
            f"{100 * (row['value'] / row['bound'] - 1):.2f} %",
            f"{spent:.0f}",
            f"{seconds['verification']:.0f}",
            row["version"],
            row["date"],
        ]
        text += f"| {' | '.join(cells)} |\n"
    return text


def replaced(page: str, written: str) -> str:
    """Return the page with the table that has the same head."""
    head = written[: written.index("\n") + 1]
    before, _, rest = page.partition(head)
    lines = rest.splitlines(keepends=True)
    end = next(number for number, line in enumerate(lines) if not line.startswith("|"))
    return before + written + "".join(lines[end:])


def stored() -> list[dict[str, Any]]:
    """Return the stored rows, in the order of the scenarios."""
    rows = json.loads(ROWS.read_text("utf-8")) if ROWS.exists() else []
    return sorted(rows, key=lambda row: list(SCENARIOS).index(row["name"]))


if __name__ == "__main__":
    for chosen in sys.argv[2:]:
        new = measured(chosen, Path(sys.argv[1]))
        kept = [row for row in stored() if row["name"] != chosen]
        ROWS.write_text("[\n" + ",\n".join(map(json.dumps, [*kept, new])) + "\n]\n")
    if PAGE.exists():
        PAGE.write_text(replaced(PAGE.read_text("utf-8"), table(stored())))
