"""A study's results decision by decision."""

from gsopt.studies.page.parts import parts
from tests.gsopt.studies.samples import found, row


def test_each_decision_has_its_cells() -> None:
    """Cells are sorted by decision, those that failed too, and policies are one more."""
    rows = [row({}, word="placement"), row({}, word=""), row({}, word="placement", error="Crash")]
    several = parts(found(*rows))
    assert {name: part.rows for name, part in several.items()} == {
        "placement": (rows[0], rows[2]),
        "policies": (rows[1],),
    }
