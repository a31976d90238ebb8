"""The table of whole traces: it follows from the stored rows, and the certificates prove the bounds."""

from hashlib import sha256

import pytest

import gsopt
from gsopt.core.errors import InvalidInput
from gsopt.schedule.certificate import Certificate
from gsopt.simulation import replay
from tests.docs.scripts import DOCS, script
from tests.heuristics.policies.shared import traces

WHOLE = script("whole")


def test_the_table_follows_from_the_rows() -> None:
    """The page shows the table that the program makes of the stored rows."""
    assert f"\n\n{WHOLE.table(WHOLE.stored())}\n" in (DOCS / "suites.md").read_text("utf-8")


def test_the_rows_name_their_certificates() -> None:
    """Each certificate has the digest, the jobs and the bound of its row, which is below the value."""
    for row in WHOLE.stored():
        text = (WHOLE.CERTIFICATES / f"{row['name']}.json").read_bytes()
        certificate = Certificate.model_validate_json(text)
        assert sha256(text).hexdigest() == row["certificate"]
        assert (certificate.digest, certificate.jobs) == (row["digest"], row["jobs"])
        assert certificate.mean_jct == row["bound"] <= row["value"] == min(row["values"].values())


def test_the_row_of_crux_holds() -> None:
    """Anyone can verify the bound on the trace of Crux, and its schedules have the stored values."""
    row = next(row for row in WHOLE.stored() if row["name"] == "crux")
    scenario = WHOLE.SCENARIOS["crux"].scenario(traces())
    proof = gsopt.verify(WHOLE.CERTIFICATES / "crux.json", scenario)

    assert (proof.jobs, proof.gpus, proof.mean_jct) == (row["jobs"], row["gpus"], row["bound"])
    for name, policy in WHOLE.POLICIES.items():
        value = replay(scenario, policy).metrics.mean_jct
        assert value == pytest.approx(row["values"][name], rel=1e-9)


def test_a_certificate_of_one_trace_proves_nothing_for_another_cluster() -> None:
    """The certificate of Crux on 1,024 GPUs is refused for 1,023."""
    workload = WHOLE.SCENARIOS["crux"].scenario(traces()).workload
    with pytest.raises(InvalidInput, match="digest"):
        gsopt.verify(WHOLE.CERTIFICATES / "crux.json", workload, cluster=1_023)


def test_the_row_of_an_adaptive_workload_holds() -> None:
    """Anyone can verify the bound on a workload of Sia, in rounds of a minute."""
    row = next(row for row in WHOLE.stored() if row["name"] == "philly-1")
    proof = gsopt.verify(WHOLE.CERTIFICATES / "philly-1.json", WHOLE.SCENARIOS["philly-1"].scenario(traces()))

    assert (proof.jobs, proof.gpus, proof.mean_jct) == (row["jobs"], row["gpus"], row["bound"])
    assert proof.round_length == 60
