"""Workload files of ASTRA-sim."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.communication import Layer, read_layers

FIRST = "conv\t-1\t10\tNONE\t0\t20\tNONE\t0\t30\tALLREDUCE\t400\t0"
SECOND = "fc -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 4 0"


def written(folder: Path, *lines: str) -> Path:
    """Write a workload file."""
    path = folder / "layers.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_layers_are_read(tmp_path: Path) -> None:
    """Times are in nanoseconds, whatever blanks part the values; blank lines and stray totals are no layers."""
    layers = read_layers(written(tmp_path, "DATA", "2", FIRST, "", SECOND, "11"))

    assert layers == (
        Layer(forward=10e-9, input_gradient=20e-9, weight_gradient=30e-9, size=400),
        Layer(forward=1e-9, input_gradient=2e-9, weight_gradient=3e-9, size=4),
    )


def test_a_part_of_the_layers_is_read_on_request_only(tmp_path: Path) -> None:
    """A file with fewer layers than it says is refused, unless a part is asked for."""
    path = written(tmp_path, "DATA", "3", FIRST, SECOND)

    assert len(read_layers(path, partial=True)) == 2
    with pytest.raises(InvalidInput, match=r"line 2: 3: must be the number of layers, of which there are 2$"):
        read_layers(path)


BAD = {
    "model parallelism": (["MODEL", "1", FIRST], "line 1: 'MODEL': must be DATA: only data parallelism"),
    "nothing": ([], "line 1: '': must be DATA"),
    "a word for a count": (["DATA", "one", FIRST], "line 2: layers: 'one': must be a whole number"),
    "no count": (["DATA", "", FIRST], "line 2: layers: '': must be a whole number"),
    "more than it says": (["DATA", "1", FIRST, SECOND], "line 2: 1: must be the number of layers, of which"),
    "no layers": (["DATA", "0"], "must hold a layer"),
    "a value too few": (["DATA", "1", FIRST.rsplit("\t", 1)[0]], "line 3: 11: must have 12 values"),
    "a negative time": (
        ["DATA", "1", FIRST.replace("20", "-20")],
        "line 3: input_gradient: '-20': must be a whole",
    ),
    "a fraction": (["DATA", "1", FIRST.replace("400", "4.5")], "line 3: size: '4.5': must be a whole number"),
    "too long a time": (
        ["DATA", "1", FIRST.replace("10", "9" * 19)],
        "line 3: forward: '9999999999999999999': ",
    ),
    "another collective": (
        ["DATA", "1", FIRST.replace("ALLREDUCE", "ALLTOALL")],
        "line 3: weight gradient: 'ALLTOALL': must be ALLREDUCE, as in data parallelism",
    ),
}


@pytest.mark.parametrize(("lines", "message"), BAD.values(), ids=BAD.keys())
def test_what_is_no_workload_is_refused(tmp_path: Path, lines: list[str], message: str) -> None:
    """Another file, and a value that breaks a rule, are refused in one line with file, line, value and rule."""
    with pytest.raises(InvalidInput) as caught:
        read_layers(written(tmp_path, *lines), partial=True)

    assert str(caught.value).startswith(str(tmp_path / "layers.csv"))
    assert message in str(caught.value)


def test_the_models_of_dally(models: Mapping[str, tuple[Layer, ...]]) -> None:
    """Six models are at hand, BERT and MobileNetV3 cut off; one layer of AlexNet has most of its bytes."""
    counts = {model: len(layers) for model, layers in models.items()}

    assert counts == {
        "vgg11": 11,
        "alexnet": 8,
        "mobilenetv3": 52,
        "resnet18": 21,
        "resnet50": 54,
        "bert-large": 66,
    }
    assert max(layer.size for layer in models["alexnet"]) == 150_994_944
