"""Where results come from."""

from gsopt.studies.provenance import StudyRun


def test_versions_of_packages_are_given_where_they_were_kept() -> None:
    """A run that an earlier version of gsopt kept has none."""
    old = StudyRun("2026-01-31T12:00:00+00:00", "0.1.0", "3.11.9", "Linux", 2, 2, 4)
    new = StudyRun(
        "2026-01-31T12:00:00+00:00", "0.1.0", "3.11.9", "Linux", 2, 2, 4, {"packages": {"numpy": "2.0"}}
    )
    assert (old.packages, new.packages) == ({}, {"numpy": "2.0"})
