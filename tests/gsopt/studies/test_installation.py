"""What is installed, as workers are held to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.studies import installation as module
from gsopt.studies.installation import installation, refuse_difference


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"gsopt": "0.0.1"}, r"gsopt: 0\.1\.0: must be 0\.0\.1, as where the study was started"),
        ({"code of gsopt": "abc"}, r"code of gsopt: [0-9a-f]{12}: must be abc, as"),
        ({"python": "3.99"}, r"python: 3\.\d+: must be 3\.99, as"),
        ({"highspy": "0.1"}, r"highspy: [0-9.]+: must be 0\.1, as"),
        ({"another": "1.0"}, r"another: not installed: must be 1\.0, as"),
    ],
)
def test_the_first_difference_is_named(changes: dict[str, str], line: str) -> None:
    """Another version, code or package is one line with what is here and what must be."""
    with pytest.raises(InvalidInput, match=f"^{line}"):
        refuse_difference({**installation(), **changes})


def test_what_is_here_only_is_a_difference_too() -> None:
    """A package that the other side lacks is refused."""
    ours = {name: number for name, number in installation().items() if name != "scipy"}
    with pytest.raises(InvalidInput, match=r"^scipy: .*: must be not installed"):
        refuse_difference(ours)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder in which the packages seem to lie."""
    for name in ("gsopt", "heuristics/placement"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.py").write_text("1")
    monkeypatch.setattr(module, "_HOME", tmp_path)
    installation.cache_clear()
    yield tmp_path
    installation.cache_clear()


def test_every_source_counts(home: Path) -> None:
    """The fingerprint changes with the text, the name or the absence of any source, and with nothing else."""

    def fingerprint() -> str:
        installation.cache_clear()
        return installation()["code of gsopt"]

    found = [fingerprint()]
    (home / "heuristics/placement/a.py").write_text("2")
    found.append(fingerprint())
    (home / "heuristics/placement/a.py").rename(home / "heuristics/placement/b.py")
    found.append(fingerprint())
    (home / "gsopt/a.py").unlink()
    found.append(fingerprint())
    assert len(set(found)) == 4
    (home / "gsopt/notes.txt").write_text("3")
    assert fingerprint() == found[-1]
