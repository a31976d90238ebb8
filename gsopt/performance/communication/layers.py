"""Layers: the computation and communication of a model by layer, as in the workload files of ASTRA-sim."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import Field

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import read_text
from gsopt.core.problem import Frozen

_HEADER = ("DATA",)  # data parallelism: only gradients are sent, and all of them are reduced
_COLUMNS = 12
_NUMBERS = {"forward": 2, "input_gradient": 5, "weight_gradient": 8, "size": 10}
_KINDS = {"forward": 3, "input gradient": 6, "weight gradient": 9}
_SENT = {"forward": "NONE", "input gradient": "NONE", "weight gradient": "ALLREDUCE"}
_WHOLE_NUMBER = re.compile(r"[0-9]{1,18}")
_NANOSECONDS = 1e9

Seconds = Annotated[float, Field(ge=0, le=1e9)]


class Layer(Frozen):
    """One layer of a model in a training iteration.

    Attributes
    ----------
    forward
        Duration of the forward pass in seconds.
    input_gradient, weight_gradient
        Durations of the two parts of the backward pass in seconds.
    size
        Bytes of the layer's gradients, which are all-reduced after the weight gradient is computed.

    Examples
    --------
    >>> Layer(forward=1e-3, input_gradient=2e-3, weight_gradient=3e-3, size=4096).computation
    0.006
    """

    forward: Seconds
    input_gradient: Seconds
    weight_gradient: Seconds
    size: Annotated[float, Field(ge=0, le=1e18)]

    @property
    def computation(self) -> float:
        """Duration, in seconds, of the forward and backward passes together."""
        return self.forward + self.input_gradient + self.weight_gradient


def read_layers(path: str | Path, *, partial: bool = False) -> tuple[Layer, ...]:
    """Read the layers of a data-parallel model, in order, from a workload file of ASTRA-sim.

    The first line is ``DATA``, and the second line is the number of layers. Each further line has twelve values
    separated by spaces: a name; a dependency; the time (ns), collective and bytes of the forward pass, then
    those of the input gradient, then those of the weight gradient; and the time of the update. The collective
    must be ``ALLREDUCE`` for the weight gradient, and ``NONE`` for the other two. Of the bytes, only those of
    the weight gradient are used; names, dependencies and update times are ignored. Empty lines and lines with a
    single number are skipped.

    Parameters
    ----------
    path
        The file.
    partial
        Whether the file may have fewer layers than it states.

    Raises
    ------
    InvalidInput
        The file cannot be read, is not a workload file, or has a value that breaks a rule.

    Examples
    --------
    >>> read_layers("no/such/layers.csv")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/layers.csv: cannot be read: No such file or directory
    """
    file = str(path)
    lines = [line.split() for line in read_text(path).splitlines()]
    if len(lines) < len(_NUMBERS) // 2 or tuple(lines[0]) != _HEADER:
        found = shorten(" ".join(lines[0]) if lines else "")
        raise InvalidInput("line 1", found, "must be DATA: only data parallelism is modelled", source=file)
    declared = _number(file, 2, "layers", (lines[1] or [""])[0])
    layers = tuple(
        _layer(file, number, values)
        for number, values in enumerate(lines[2:], start=3)
        if values and not (len(values) == 1 and _WHOLE_NUMBER.fullmatch(values[0]))
    )
    if len(layers) > declared or (len(layers) < declared and not partial):
        rule = f"must be the number of layers, of which there are {len(layers)}"
        raise InvalidInput("line 2", str(declared), rule, source=file)
    if not layers:
        raise InvalidInput("", "", "must hold a layer", source=file)
    return layers


def _layer(file: str, line: int, values: list[str]) -> Layer:
    if len(values) != _COLUMNS:
        raise InvalidInput(f"line {line}", str(len(values)), f"must have {_COLUMNS} values", source=file)
    for part, column in _KINDS.items():
        if values[column] != _SENT[part]:
            rule = f"must be {_SENT[part]}, as in data parallelism"
            raise InvalidInput(f"line {line}: {part}", shorten(values[column]), rule, source=file)
    read = {name: _number(file, line, name, values[column]) for name, column in _NUMBERS.items()}
    size = read.pop("size")
    return Layer(**{name: time / _NANOSECONDS for name, time in read.items()}, size=size)


def _number(file: str, line: int, name: str, text: str) -> int:
    if not _WHOLE_NUMBER.fullmatch(text):
        raise InvalidInput(f"line {line}: {name}", shorten(text), "must be a whole number", source=file)
    return int(text)
