"""Rows as tables take them."""

from gsopt.studies import cells_of
from gsopt.studies.rows import labels_of, row_of
from tests.gsopt.studies.samples import row, study


def test_options_with_one_name_are_kept_apart() -> None:
    """An instance's option gives way to a method's, and an option to a figure of that name."""
    found = row({"gap": 0.5}, options={"gap": 0.01, "load": 1}, instance_options={"load": 2, "jobs": 3})
    assert found.columns["load"] == 1
    assert (found.columns["instance.load"], found.columns["jobs"]) == (2, 3)
    assert (found.as_dict()["gap"], found.as_dict()["option.gap"]) == (0.5, 0.01)


def test_labels_survive_storing() -> None:
    """A cell's labels, decision, instance and seed are read back from plain JSON."""
    import json

    for cell in cells_of(study(seeds=[4])):
        stored = json.dumps(labels_of(cell))
        found = row_of(stored, "done", '{"objective": 1}', "", "", 0.5, "0.1.0", cell.key)
        assert (found.labels, found.word, found.instance_key) == (cell.labels, cell.word, cell.instance_key)
        assert (found.seed, found.figures, found.key) == (cell.options.get("seed"), {"objective": 1}, cell.key)
