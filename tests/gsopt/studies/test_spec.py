"""A study as a file, and its entries spanned over their options."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gsopt.studies import read_study
from gsopt.studies.grid import points
from tests.gsopt.studies.samples import study
from tests.refusals import assert_refused, refusal

GOOD: dict[str, Any] = {"study": "a", "instances": ["reclaiming/small"], "methods": ["greedy"]}


def test_a_study_is_read_as_it_was_written(tmp_path: Path) -> None:
    """The file's JSON and the object say the same."""
    made = study(seeds=[3, 1], time_limit="2min")
    assert made.time_limit == 120.0
    path = tmp_path / "study.json"
    path.write_text(made.model_dump_json())
    assert read_study(path) == made


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"methds": []}, "methds: []: is not a known key"),
        ({"study": ""}, "study: ''"),
        ({"instances": []}, "instances: "),
        ({"methods": "greedy"}, "methods: 'greedy'"),
        ({"methods": [3]}, "methods[0]: 3: must be a name, or an object"),
        ({"instances": [["a"]]}, "instances[0]: ['a']: must be a name, or an object"),
        ({"seeds": []}, "seeds: "),
        ({"seeds": [1, 1]}, "seeds: 1: must not occur twice"),
        ({"seeds": [1.5]}, "seeds[0]: 1.5"),
        ({"time_limit": -1}, "time_limit: -1"),
        ({"time_limit": "10 weeks"}, "time_limit: '10 weeks': must be a number of seconds from 0 to 1e9, or"),
        ({"time_limit": [1]}, "time_limit: [1]"),
    ],
)
def test_bad_fields_are_one_line(tmp_path: Path, change: dict[str, Any], line: str) -> None:
    """What is wrong in the file is named with file, field, value and rule."""
    path = tmp_path / "study.json"
    path.write_text(json.dumps(GOOD | change))
    assert refusal(read_study, path).startswith(f"{path}: {line}")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"study": "a", "study": "b"}', '{"seeds": [NaN]}', "[" * 10000]
)
def test_bad_json_is_one_line(tmp_path: Path, text: str) -> None:
    """What is no JSON object, holds a key twice or a NaN is refused."""
    path = tmp_path / "study.json"
    path.write_text(text)
    assert_refused("^" + str(path), read_study, path)


_VALUES = some.one_of(some.integers(), some.lists(some.integers(), min_size=1, max_size=3))


@given(some.dictionaries(some.text(min_size=1).filter(lambda name: name != "label"), _VALUES, max_size=4))
def test_points_are_the_product_of_the_lists(entry: dict[str, Any]) -> None:
    """There are as many points as the product of the lengths, and each has one of each list's values."""
    found = list(points(entry, "instance"))
    expected = 1
    for value in entry.values():
        expected *= len(value) if isinstance(value, list) else 1
    assert len(found) == expected
    for point in found:
        assert set(point.values) == set(entry)
        for name, value in entry.items():
            assert point.values[name] in value if isinstance(value, list) else point.values[name] == value


def test_a_list_in_a_list_is_one_value() -> None:
    """An option that is a list by itself is written as a list in a list."""
    assert [point.values["t"] for point in points({"t": [[1, 2]]}, "policy")] == [[1, 2]]


def test_names() -> None:
    """Without a label every option is shown, with one only those that vary; some can be left out."""
    plain = next(points({"policy": "las", "quantum": [60, 600]}, ""))
    labelled = next(points({"policy": "las", "quantum": [60, 600], "x": 1, "label": "LAS"}, ""))
    options = {"quantum": 60, "x": 1}
    assert str(plain.name("las", options)) == "las(quantum=60, x=1)"
    assert str(labelled.name("las", options)) == "LAS(quantum=60)"
    assert str(labelled.name("las", options, leaving=["quantum"])) == "LAS"
    assert plain.name("las", options).without("quantum", "x") == "las"


@pytest.mark.parametrize("entry", [{"a": []}, {"label": 3}, {"a": list(range(2000)), "b": list(range(2000))}])
def test_what_cannot_be_spanned(entry: dict[str, Any]) -> None:
    """An empty list, a label that is no text and a grid of millions are refused."""
    refusal(list, points(entry, "instance"))
