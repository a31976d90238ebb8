"""A study as a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.studies import read_study
from tests.gsopt.studies.samples import study

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
        ({"seeds": [1, 1]}, "seeds: 1: must not stand there twice"),
        ({"seeds": [1.5]}, "seeds[0]: 1.5"),
        ({"time_limit": -1}, "time_limit: -1"),
        (
            {"time_limit": "10 weeks"},
            "time_limit: '10 weeks': must be a number of seconds from 0 to 1e9, or such as",
        ),
        ({"time_limit": [1]}, "time_limit: [1]"),
    ],
)
def test_bad_fields_are_one_line(tmp_path: Path, change: dict[str, Any], line: str) -> None:
    """What is wrong in the file is named with file, field, value and rule."""
    path = tmp_path / "study.json"
    path.write_text(json.dumps(GOOD | change))
    with pytest.raises(InvalidInput) as refused:
        read_study(path)
    assert str(refused.value).startswith(f"{path}: {line}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"study": "a", "study": "b"}', '{"seeds": [NaN]}', "[" * 10000]
)
def test_bad_json_is_one_line(tmp_path: Path, text: str) -> None:
    """What is no JSON object, holds a key twice or a NaN is refused."""
    path = tmp_path / "study.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="^" + str(path)):
        read_study(path)
