"""The gallery: executed notebooks, their pictures, and the page that shows them."""

import json
from base64 import b64encode
from pathlib import Path

import pytest
from gallery import pages
from sphinx.errors import ExtensionError


def test_a_notebook_is_shown_with_its_question_and_first_picture(tmp_path: Path) -> None:
    """The page has a card with the heading, and the first picture is that of the first cell that has one."""
    picture = {"data": {"image/png": b64encode(b"first").decode()}}
    later = {"data": {"image/png": b64encode(b"second").decode()}}
    cells = [
        {"source": ["# Why?\n", "More."]},
        {"source": "1", "outputs": [{"data": {"text/plain": "1"}}, {"name": "stdout"}]},
        {"source": "draw()", "outputs": [picture]},
        {"source": "draw()", "outputs": [later]},
    ]
    (tmp_path / "why.ipynb").write_text(json.dumps({"cells": cells}))

    found = pages(tmp_path)
    assert found.keys() == {"index.md", "why.ipynb", "pictures/why.png"}
    assert found["pictures/why.png"] == b"first"
    assert "{grid-item-card} Why?\n:link: why\n" in str(found["index.md"])


def test_beginners_come_first(tmp_path: Path) -> None:
    """The notebook on policies needs the fewest terms and leads; the others follow by name."""
    cells = [{"source": "# Why?", "outputs": [{"data": {"image/png": ""}}]}]
    for name in ("zebra", "apple", "policies"):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": cells}))
    assert [name for name in pages(tmp_path) if name.endswith(".ipynb")] == [
        "policies.ipynb",
        "apple.ipynb",
        "zebra.ipynb",
    ]


def test_without_executed_notebooks_it_says_what_to_do(tmp_path: Path) -> None:
    """The site is not built without them."""
    with pytest.raises(ExtensionError, match="make notebooks comes first"):
        pages(tmp_path)
