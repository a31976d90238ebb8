"""Fixtures of the tests of communication: the layers of Dally's models, where they are at hand."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gsopt.evaluation import catalogue
from gsopt.performance.communication import Layer, read_layers

_FOLDER = Path("dally_artistsim/astra-sim/workload")
_FILES = {
    "vgg11": "vgg11_B256_astra-sim.csv",
    "alexnet": "alexnet_B512_astra-sim.csv",
    "mobilenetv3": "mobilenet_v3_B512_astra-sim.csv",
    "resnet18": "resnet18_B512_astra-sim.csv",
    "resnet50": "resnet50_B512_astra-sim.csv",
    "bert-large": "BERT-large_B256_astra-sim2.csv",
}


@pytest.fixture(scope="session")
def models() -> Mapping[str, tuple[Layer, ...]]:
    """Return the layers of the models of Table I, or skip the test."""
    folder = catalogue.data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA names no folder of public traces")
    return {model: read_layers(folder / _FOLDER / file, partial=True) for model, file in _FILES.items()}
