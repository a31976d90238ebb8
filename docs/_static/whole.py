"""Write the table of whole traces into the page of suites, from stored rows and certificates.

``python docs/_static/whole.py DATA NAME ...`` first measures the named scenarios on the data in a folder, and
stores their rows and certificates. Without arguments, the table is written from the stored rows.
"""

import json
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import Any, NamedTuple

from page_tables import replaced

import gsopt
from gsopt.schedule.bounds.certify import certificate_of
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from gsopt.schedule.verify import ProofData, verify
from gsopt.simulation import Policy, replay
from gsopt.studies.offline import offline_schedule
from heuristics.policies import srsf, srtf
from instances import traces
from instances.scenarios import best
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
    cells: int | None = 2_000
    gangs: int = 0
    offline: Mapping[str, Any] | None = None  # options of `offline_schedule`, if it is tried
    is_priced: bool = True  # whether it uses the prices of the bound

    @property
    def round_length(self) -> float | None:
        """Seconds between decisions; None, as decisions may be made at any time."""
        return None

    def scenario(self, data: Path) -> gsopt.Scenario:
        """Read the scenario from a folder of data."""
        return gsopt.Scenario.of(self.reader(data / self.file, max_gpus=self.gpus).workload, self.gpus)

    def values(self, scenario: gsopt.Scenario, found: PriceBound) -> dict[str, float]:
        """Return the mean JCT of each schedule that is tried, by name."""
        values = {name: replay(scenario, policy).metrics.mean_jct for name, policy in POLICIES.items()}
        prices = found if self.is_priced else None
        if self.offline is not None:
            first = offline_schedule(scenario, prices, **{**self.offline, "tries": 0})
            values["offline"] = gsopt.judge(first.schedule, scenario).mean_jct
            if self.offline.get("tries"):
                best = offline_schedule(scenario, prices, **self.offline)
                values["offline, improved"] = gsopt.judge(best.schedule, scenario).mean_jct
        return values


class Adaptive(NamedTuple):
    """A scenario: a workload of Pollux or Sia with adaptive jobs, which are decided on in rounds."""

    name: str
    evaluations: int = 300
    cells: int | None = None
    gangs: int = 0
    reader: Callable[..., Any] = best.scenario
    file: str = ""
    round_length: float = float(best.ROUND)

    def scenario(self, data: Path) -> gsopt.Scenario:
        """Read the scenario from a folder of data."""
        return best.scenario(self.name, data)

    def values(self, _scenario: gsopt.Scenario, _found: PriceBound) -> dict[str, float]:
        """Return the mean JCT of the best known schedule, by the policy that found it."""
        known = next(known for known in best.best_schedules() if known.name == self.name)
        return {known.found_by: known.mean_jct}


POLICIES: dict[str, Policy] = {"srsf": srsf, "srtf": srtf}

# The powers and horizons are the best of a few.
SCENARIOS: dict[str, Whole | Adaptive] = {
    "philly-82k": Whole(traces.philly, "", 512, offline={"horizon": 3e4}),
    "philly-111k": Whole(traces.philly, "philly_full/philly_trace.csv.gz", 512, evaluations=120, cells=400),
    "venus": Whole(
        traces.helios,
        "helios_venus_full/helios_trace.csv.gz",
        640,
        evaluations=900,
        cells=4_000,
        offline={"power": 0.8, "horizon": 1e6, "tries": 780},
    ),
    "crux": Whole(
        traces.crux,
        "crux_lingjun",
        1_024,
        evaluations=1_800,
        gangs=1,
        offline={"tries": 10_000},
        is_priced=False,
    ),
    "itp": Whole(
        traces.itp, "elasticflow_itp/data/raw-traces.tar.gz", 1_152, offline={"power": 1.2, "horizon": 7e4}
    ),
    **{name: Adaptive(name) for name in best.NAMES},
}


def measured(name: str, data: Path) -> dict[str, Any]:
    """Return the row of a scenario, and store its certificate."""
    whole = SCENARIOS[name]
    scenario = whole.scenario(data)
    begin = process_time()
    found = price_bound(
        scenario,
        evaluations=whole.evaluations,
        cells=whole.cells,
        round_length=whole.round_length,
        gangs=whole.gangs,
    )
    bounded = process_time()
    values = whole.values(scenario, found)
    simulated = process_time()
    certificate = certificate_of(found, ProofData.of(scenario, whole.round_length))
    text = certificate.model_dump_json() + "\n"
    (CERTIFICATES / f"{name}.json").write_text(text)
    certified = process_time()
    proof = verify(certificate, scenario)
    least = min(values, key=values.__getitem__)
    return {
        "name": name,
        "reader": whole.reader.__name__,
        "file": whole.file,
        "jobs": len(scenario.workload.jobs),
        "gpus": scenario.cluster.gpus,
        "digest": certificate.digest,
        "value": values[least],
        "policy": least,
        "values": values,
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
