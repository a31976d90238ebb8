"""Instance and solution files, whole and hostile."""

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.core.files import (
    file_name,
    noting_reads,
    read_bytes,
    replacing,
    require_folder,
    require_writable,
    to_json,
    write,
    write_text,
)
from gsopt.problems.reader import read_problem, read_solution
from gsopt.problems.reclaiming import Reclaiming
from tests.effort import cases
from tests.gsopt.problems.test_reclaiming import figure_5, pick, random_problem
from tests.refusals import refused

GOOD: dict[str, Any] = {
    "problem": "reclaiming",
    "demand": 1,
    "servers": [{"name": "s1", "gpus": 8}, {"name": "s2", "gpus": 8}],
    "jobs": [{"name": "a", "workers": {"s1": 4, "s2": 4}}],
}


def text(**change: Any) -> str:
    """Return the good file with some keys changed."""
    return json.dumps(GOOD | change)


def working(**workers: int) -> str:
    """Return the good file with one job that has other workers."""
    return text(jobs=[{"name": "a", "workers": workers}])


def demanding(demand: str) -> str:
    """Return the good file with a demand as it is written."""
    return text().replace('"demand": 1', f'"demand": {demand}')


HOSTILE = {
    "unknown key": (text(colour="red"), "colour: 'red': is not a known key"),
    "unknown key of two lines": (text(**{"a\nb\x1b[31m": 1}), r"'a\nb\x1b[31m': 1: is not a known key"),
    "unknown key of 900 letters": (text(**{"k" * 900: 1}), "(902 characters): 1: is not a known key"),
    "wrong type": (text(demand="1"), "demand: '1': input should be a valid integer"),
    "fraction for a count": (text(demand=1.5), "demand: 1.5: input should be a valid integer"),
    "truth value for a count": (text(demand=True), "demand: True: input should be a valid integer"),
    "missing key": ('{"problem": "reclaiming", "demand": 1, "jobs": []}', "servers: is required"),
    "NaN": (demanding("NaN"), "NaN: must be a finite number"),
    "infinite": (demanding("1e999"), "demand: inf: input should be a "),
    "negative": (text(demand=-1), "demand: -1: input should be greater than or equal to 0"),
    "400 digits": (text(demand=10**400), "demand: 1000"),
    "400 digits of GPUs": (text(servers=[{"name": "s1", "gpus": 10**400}]), "servers[0].gpus: 1000"),
    "5,000 digits": (demanding("9" * 5000), "integer of thousands of digits"),
    "double server": (text(servers=[{"name": "s1", "gpus": 8}] * 2), "servers[1].name: 's1': must differ"),
    "double job": (text(jobs=GOOD["jobs"] * 2), "jobs[1].name: 'a': must differ"),
    "double key": (text().replace('"s2": 4', '"s1": 4'), "'s1': must not occur twice"),
    "unknown server": (working(s9=1), "jobs[0].workers: 's9': must name one"),
    "overfull server": (working(s1=9), "servers[0].gpus: 8: must be at least"),
    "no GPUs": (working(s1=0), "jobs[0].workers.s1: 0: input should be greater"),
    "no workers": (working(), "jobs[0].workers: {}"),
    "too much demand": (text(demand=3), "demand: 3: must be at most the 2 servers"),
    "empty cluster": (text(servers=[], jobs=[], demand=0), "servers: []: "),
    "truncated": (text()[:-20], "must be JSON"),
    "empty file": ("", "line 1 column 1: must be JSON"),
    "100 levels": (text(jobs=json.loads("[" * 100 + "]" * 100)), "jobs[0]: "),
    "100,000 levels": ("[" * 100_000 + "]" * 100_000, "nested less deeply"),
    "a list": ("[]", "[]: must be a JSON object"),
    "another decision": (text(problem="scheming"), "problem: 'scheming': must be one of"),
    "decision of wrong type": (text(problem=["reclaiming"]), "problem: ['reclaiming']: must be one of"),
}


@pytest.mark.parametrize(("content", "message"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_file_gives_one_clear_line(tmp_path: Path, content: str, message: str) -> None:
    """Each kind of damage gives a single line that names the file, the field, the value and the rule."""
    path = tmp_path / "hostile.json"
    path.write_text(content)
    with refused(message, start=f"{path}: ", longest=300 + len(str(path))):
        read_problem(path)


def test_unreadable_files_give_one_line(tmp_path: Path) -> None:
    """A missing file, a folder and bytes that are no text are reported, not raised as something else."""
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe{}")
    for path, message in (
        (tmp_path / "none.json", "cannot be read: No such file"),
        (tmp_path, "cannot be read: Is a directory"),
        (tmp_path / "bytes.json", "must be UTF-8"),
        (tmp_path / "a\0b.json", "must be a path"),
    ):
        with pytest.raises(InvalidInput, match=message):
            read_problem(path)


@given(st.integers(0, 10_000))
@settings(max_examples=cases(100), deadline=None)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """A problem survives a round trip through its file unchanged, but for the name it takes from the file."""
    path = tmp_path_factory.mktemp("round") / "trip.json"
    problem = random_problem(seed)
    write(problem, path)
    assert read_problem(path) == problem.model_copy(update={"name": "trip"})


@given(st.binary(max_size=40), st.integers(0, 400))
@settings(max_examples=cases(200), deadline=None)
def test_damaged_bytes_never_escape(tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int) -> None:
    """Whatever bytes are written into a good file, it reads as a problem or gives InvalidInput."""
    path = tmp_path_factory.mktemp("damage") / "file.json"
    good = to_json(figure_5(2)).encode()
    path.write_bytes(good[:at] + junk + good[at + len(junk) :])
    try:
        outcome: object = read_problem(path)
    except InvalidInput as error:
        outcome = error
    assert isinstance(outcome, Reclaiming) or "\n" not in str(outcome)


def test_solution_is_read_alone_or_from_a_result(tmp_path: Path) -> None:
    """A solution file may be the solution itself or the printed result that contains it."""
    alone, result, empty = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "c.json"
    alone.write_text('{"servers": ["s1", "s2"]}')
    result.write_text('{"status": "optimal", "solution": {"servers": ["s1", "s2"]}}')
    empty.write_text('{"status": "unknown", "solution": null}')
    assert read_solution(alone, figure_5(2)) == pick("s1", "s2") == read_solution(result, figure_5(2))
    with pytest.raises(InvalidInput, match="this result has none"):
        read_solution(empty, figure_5(2))


def test_looking_whether_it_can_be_written_leaves_nothing(tmp_path: Path) -> None:
    """A file that can be written is not made by looking; a folder is."""
    require_writable(tmp_path / "a.json")
    require_folder(tmp_path / "b" / "c")
    assert [path.name for path in tmp_path.rglob("*")] == ["b", "c"]


def test_a_stream_is_written_and_its_file_stays(tmp_path: Path) -> None:
    """A file to which a stream leads receives the text, and is still the file that was opened."""
    path = tmp_path / "out"
    with path.open("w") as file:
        write_text(f"/dev/fd/{file.fileno()}", "text")
        assert os.fstat(file.fileno()).st_ino == path.stat().st_ino
    assert path.read_text() == "text"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_names_of_files_are_short_enough(tmp_path: Path) -> None:
    """A long name is cut to 200 bytes between two letters, and a file can have it."""
    assert file_name("é" * 200) == "é" * 100
    assert file_name("a" + "é" * 200) == "a" + "é" * 99
    write_text(tmp_path / file_name("é" * 200), "text")


def test_what_is_written_replaces_the_file_behind_a_link(tmp_path: Path) -> None:
    """A link stays a link, its file keeps its mode, and a device is written to as it is."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_text(link, "new")
    write_text("/dev/null", "nothing")
    assert (link.is_symlink(), target.read_text(), target.stat().st_mode & 0o777) == (True, "new", 0o640)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]
    assert Path("/dev/null").is_char_device()


def _fail(path: Path, error: Any) -> None:
    with replacing(path) as beside:
        beside.write_text("new")
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left"), ZeroDivisionError])
def test_what_goes_wrong_leaves_the_file_as_it_was(tmp_path: Path, error: Any) -> None:
    """Whatever is raised while a file is written, the old one stays and nothing lies beside it."""
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(InvalidInput if isinstance(error, OSError) else error):
        _fail(path, error)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_read_is_noted(tmp_path: Path) -> None:
    """Each file is noted with the digest of what was read, nested notes apart, and nothing afterwards."""
    first, second = tmp_path / "a", tmp_path / "b"
    for path in (first, second):
        path.write_text(path.name)
    with noting_reads() as outer:
        read_bytes(first)
        with noting_reads() as inner:
            read_bytes(second)
    read_bytes(second)
    digests = {str(path): sha256(path.name.encode()).hexdigest() for path in (first, second)}
    assert outer | inner == digests
    assert (list(outer), list(inner)) == ([str(first)], [str(second)])
