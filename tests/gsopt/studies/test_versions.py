"""Versions of what computes."""

import platform
from importlib.metadata import PackageNotFoundError, version

import pytest

from gsopt.studies import versions as module
from gsopt.studies.versions import versions


def test_versions_are_those_that_are_installed() -> None:
    """Every package is there with the version of its installation, and Python with its own."""
    found = versions()
    assert found.pop("python") == platform.python_version()
    assert found == {name: version(name) for name in found}
    assert {"gsopt", "highspy", "pyomo", "numpy"} <= found.keys()


def test_what_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that is not there has no version."""

    def installed(name: str) -> str:
        if name == "ortools":
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(module, "version", installed)
    assert "ortools" not in versions()
    assert versions()["highspy"] == "1.0"
