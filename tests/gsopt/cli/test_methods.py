"""Listings on the command line."""

import json

from gsopt.problems.reader import problem_types
from tests.commands import gsopt


def test_listings() -> None:
    """Methods, generators and schemas are listed for every decision."""
    for word in problem_types():
        assert "exact" in gsopt("methods", word).stdout
        assert gsopt("generate", word).returncode == 0
        assert json.loads(gsopt("schema", word).stdout)["title"]
    assert "themis_auction" in gsopt("methods", "scheduling").stdout
