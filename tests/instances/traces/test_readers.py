"""What all readers of traces have in common: their options, and one line for a file that is no trace."""

import gzip
import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import instances.traces
from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Workload
from instances.traces.reading import Reading
from tests.effort import cases
from tests.instances.traces.samples import TEXTS, write_sample

Reader = Callable[..., Reading]

READERS: dict[str, Reader] = {name: getattr(instances.traces, name) for name in instances.traces.__all__}

GARBAGE = {
    "empty": b"",
    "blank lines": b"\n\n\n",
    "another table": b"color,taste\nred,sweet\n",
    "binary": bytes(range(256)) * 9,
    "not UTF-8": b"\xff\xfe\xfd" * 99,
    "a web page": b"<!DOCTYPE html>\n<html><body>not found</body></html>\n",
    "a JSON object": b'{"jobs": []}',
    "deep nesting": b"[" * 200_000,
    "a gzip file cut off": gzip.compress(b"timestamp,duration" * 99)[:-9],
    "a gzip file of garbage": gzip.compress(b"\x00\x01" * 99),
    "a gzip header alone": b"\x1f\x8b",
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_has_a_sample(name: str) -> None:
    """The tests of this file cover every reader there is."""
    assert name in TEXTS
    assert READERS[name].__name__ == name


@pytest.mark.parametrize("name", READERS)
def test_a_good_file_becomes_jobs(name: str, tmp_path: Path) -> None:
    """Three good rows become three jobs in the order of their release dates, the first at second 0."""
    reading = READERS[name](write_sample(name, tmp_path))

    assert len(reading.workload.jobs) == 3
    assert reading.dropped == ()
    assert reading.workload.jobs[0].release_date == 0
    assert reading.workload.name == name
    assert write_sample(name, tmp_path).name in reading.workload.source


#: Name, release date, seconds, GPUs, type of GPU and model of the jobs of samples.
JOBS = {
    "helios": [("7", 0.0, 24.0, 16, "", ""), ("8", 1.5, 500.0, 1, "", ""), ("9", 4.0, 60.0, 8, "", "")],
    "openb": [
        ("pod-0", 0.0, 600.0, 1, "", ""),
        ("pod-1", 50.0, 240.0, 1, "", ""),
        ("pod-2", 200.0, 1500.0, 8, "V100M32", ""),
    ],
    "philly": [
        ("philly-3", 0.0, 2951.0, 8, "", ""),
        ("philly-2", 2932.0, 66.0, 1, "", ""),
        ("philly-4", 86400.0, 10.0, 16, "", ""),
    ],
    "swf": [
        ("1", 0.0, 1451.0, 128, "", ""),
        ("2", 1460.0, 3726.0, 32, "", ""),
        ("3", 5198.0, 1067.0, 1, "", ""),
    ],
    "tiresias": [
        ("0", 0.0, 164.0, 1, "", "vgg19"),
        ("1", 30.0, 147.0, 8, "", "vgg11"),
        ("2", 53.0, 127.0, 2, "", "inception4"),
    ],
}


@pytest.mark.parametrize("name", JOBS)
def test_jobs_are_read(name: str, tmp_path: Path) -> None:
    """Every row is a job: released at its submission, counted from the first one, for as long as it ran."""
    jobs = READERS[name](write_sample(name, tmp_path)).workload.jobs

    assert JOBS[name] == [
        (job.name, job.release_date, job.duration, job.gpus, job.gpu_type, job.model) for job in jobs
    ]


@pytest.mark.parametrize("module", ["ares", "castor", "dally"])
def test_assumptions_are_sentences(module: str) -> None:
    """Each can be printed as it stands."""
    texts = import_module(f"instances.traces.{module}").ASSUMPTIONS
    assert all(text.endswith(".") and "\n" not in text for text in texts)


@pytest.mark.parametrize("name", READERS)
def test_options_are_common_to_all(name: str, tmp_path: Path) -> None:
    """A window, a GPU cap and a sample are taken by every reader, and by keyword only."""
    path = write_sample(name, tmp_path)
    whole = READERS[name](path).workload.jobs
    last = whole[-1].release_date
    smallest = min(job.gpus for job in whole)

    assert [job.name for job in READERS[name](path, window=(0, last)).workload.jobs] == [
        job.name for job in whole if job.release_date < last
    ]
    capped = READERS[name](path, max_gpus=smallest)
    assert len(capped.dropped) == sum(job.gpus > smallest for job in whole) > 0
    assert {job.gpus for job in capped.workload.jobs} == {smallest}
    assert len(READERS[name](path, sample=2, seed=1).workload.jobs) == 2
    kinds = [parameter.kind for parameter in inspect.signature(READERS[name]).parameters.values()]
    assert kinds[0] is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds[1:]) <= {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE.keys())
def test_what_is_no_trace_is_refused(name: str, garbage: bytes, tmp_path: Path) -> None:
    """A file of another kind, damaged or empty, is refused in one line that names it."""
    path = write_sample(name, tmp_path)
    path.write_bytes(garbage)
    with pytest.raises(InvalidInput) as caught:
        READERS[name](path)

    assert path.name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", READERS)
def test_what_cannot_be_found_is_refused(name: str, tmp_path: Path) -> None:
    """A missing file, a folder without the trace, and no path at all are refused in one line."""
    with pytest.raises(InvalidInput, match=r"^path: None: must be a file or folder; .* GSOPT_DATA"):
        READERS[name](None)
    with pytest.raises(InvalidInput, match=r"missing: cannot be read: No such file or directory$"):
        READERS[name](tmp_path / "missing")
    with pytest.raises(InvalidInput, match=r": must be a file, or a folder with "):
        READERS[name](tmp_path)


@pytest.mark.parametrize("name", READERS)
def test_an_unknown_option_is_a_mistake_of_the_caller(name: str, tmp_path: Path) -> None:
    """An option that does not exist is not passed over."""
    with pytest.raises(TypeError, match="gpu_cap"):
        READERS[name](write_sample(name, tmp_path), gpu_cap=3)


@pytest.mark.parametrize("name", READERS)
@settings(deadline=None, max_examples=cases(60))
@example(damage=[("swap", 0, 0), ("repeat", 0, 0)], compress=True)
@given(
    damage=st.lists(
        st.tuples(
            st.sampled_from(["flip", "insert", "delete", "repeat", "swap"]),
            st.integers(0, 10_000),
            st.integers(0, 255),
        ),
        min_size=1,
        max_size=6,
    ),
    compress=st.booleans(),
)
def test_damage_is_a_report_or_one_line(
    name: str,
    damage: list[tuple[str, int, int]],
    compress: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Whatever bytes and lines are changed, there is a reading of valid jobs or one line, never a crash."""
    path = write_sample(name, tmp_path_factory.mktemp("damage"))
    data = gzip.compress(path.read_bytes(), mtime=0) if compress else path.read_bytes()
    for kind, place, byte in damage:
        data = _damaged(data, kind, place, byte)
    path.write_bytes(data)
    try:
        reading, lines = READERS[name](path), [""]
    except InvalidInput as error:
        reading, lines = Reading(workload=Workload(jobs=()), issues=()), [str(error)]
    names = [job.name for job in reading.workload.jobs]
    dates = [job.release_date for job in reading.workload.jobs]

    assert all("\n" not in line for line in [*lines, *map(str, reading.issues)])
    assert len(set(names)) == len(names)
    assert dates == sorted(dates)


def _damaged(data: bytes, kind: str, place: int, byte: int) -> bytes:
    """Change one byte, or repeat or swap lines."""
    at = place % (len(data) + 1)
    if kind == "flip":
        return data[:at] + bytes([byte]) + data[at + 1 :]
    if kind == "insert":
        return data[:at] + bytes([byte]) + data[at:]
    if kind == "delete":
        return data[:at] + data[at + byte :]
    lines = data.split(b"\n")
    line = place % len(lines)
    if kind == "repeat":
        return b"\n".join([*lines[: line + 1], *lines[line:]])
    lines[line], lines[-2 if len(lines) > 1 else -1] = lines[-2 if len(lines) > 1 else -1], lines[line]
    return b"\n".join(lines)
