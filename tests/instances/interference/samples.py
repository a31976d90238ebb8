"""Samples: tiny files in the formats of the published measurements, with numbers of our own."""

import json
from pathlib import Path

LIGHT, HEAVY, ODD = "LM (batch size 5)", "ResNet-50 (batch size 128)", "A3C"

#: Iterations per second alone, and of both jobs of each pair.
GAVEL = {
    LIGHT: {"null": 10.0, LIGHT: [8.0, 8.0], HEAVY: [5.0, 1.6], ODD: [10.0, 3.0]},
    HEAVY: {"null": 2.0, LIGHT: [1.6, 5.0], HEAVY: [0.0, 0.0], ODD: [1.0, 2.0]},
    ODD: {"null": 4.0, LIGHT: [3.2, 10.0], HEAVY: [2.0, 1.0], ODD: [2.5, 2.5]},
}


def gavel_file(folder: Path) -> Path:
    """Write a table in which every configuration has its number of GPUs, with rows of two GPUs, which are 0."""
    one = {f"('{name}', 1)": _placed(row) for name, row in GAVEL.items()}
    two = {f"('{HEAVY}', 2)": {"null": 3.5, f"('{HEAVY}', 1)": [0.0, 0.0], f"('{HEAVY}', 2)": [0.0, 0.0]}}
    slow = {f"('{LIGHT}', 1)": {"null": 2.0}, f"('{HEAVY}', 1)": {"null": 0.0}}
    path = folder / "throughputs.json"
    path.write_text(json.dumps({"v100": one | two, "k80": slow, "v100_unconsolidated": {}}))
    return path


def _placed(row: dict[str, object]) -> dict[str, object]:
    return {name if name == "null" else f"('{name}', 1)": cell for name, cell in row.items()}


_PAIRS = """,model1,dataset1,gpu_num1,batchsize1,amp1,speed1,model2,dataset2,gpu_num2,batchsize2,amp2,speed2,use
0,PPO,Lunar,1,64,0,0.8,BERT,SQuAD,1,32,1,0.5,99
1,BERT,SQuAD,1,32,1,0.4,BERT,SQuAD,1,32,1,0.6,100
2,PPO,Lunar,1,64,0,1.02,PPO,Lunar,1,64,0,1.04,40
"""
_SINGLE = """model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label
BERT,SQuAD,32,1,100.5,99.5,60.0,16000.0,2
PPO,Lunar,64,0,2000.0,20.5,5.0,1500.0,0
VGG,Lunar,64,0,2000.0,20.5,5.0,1500.0,0
"""


def lucid_folder(folder: Path) -> Path:
    """Write both tables of Lucid where they lie in its repository, and give the one of pairs."""
    for name, text in (("data/colocate_info.csv", _PAIRS), ("analyzer/single_data.csv", _SINGLE)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder / "data/colocate_info.csv"
