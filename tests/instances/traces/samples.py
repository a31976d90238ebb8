"""Small made-up files in the format of every reader: three good rows each."""

import gzip
import io
import json
import tarfile
from pathlib import Path

PHILLY = """timestamp,duration,num_gpus,gpu_time,cluster
2017-10-09 07:01:55,66.0,1,66.0,11cb48
2017-10-09 06:13:03,2951.0,8,23608.0,6214e9
2017-10-10 06:13:03,10.0,16,160.0,6214e9
"""

PHILLY_WHOLE = """#job id,arrival time (sec),topology,shape,size,duration (sec)
0,0.0,CLOS,1,1,3613033.0
1,266563.0,CLOS,8,8,60.0
2,266563.0,CLOS,4,4,0.0
"""

CRUX = """#job id,arrival time (sec),topology,shape,size,duration (sec)
0,0.0,CLOS,48,48,720.0
1,5040.0,CLOS,744,744,120.0
3,5400.0,CLOS,16,16,60.0"""

HOSTS = """ip,DSW,PSW,ASW
a,G6,P10,S14
b,G6,P12,S2
c,G6,P10,S2
d,G6,P10,S14
"""

#: Of the rows of Philly all that are released within eight hours.
CASTOR = PHILLY.replace("10-10 06:13", "10-09 13:13")

ITP = """job_id,submission_time,duration,num_gpu
a,50,700,1
b,100,600,8
c,175,3600,64
"""

HELIOS = """# a slice
# made up
job_id,user,tenant,class,submit_time,num_chips,chip_type,num_nodes,duration_s,walltime_limit_s,final_status
7,u1,vc1,finetune,5000000,16,,2,24.0,24.0,CANCELED
8,u2,vc2,finetune,6500000,1,,1,500.0,500.0,COMPLETED
9,u1,vc1,finetune,9000000,8,,1,60.0,60.0,FAILED
"""

HELIOS_LOG = """job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1,u1,vc1,1,4,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0
2,u2,vc2,16,64,2,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0
3,u2,vc2,0,1,1,COMPLETED,2020-06-09 18:41:28,2020-06-09 18:41:28,2020-06-17 14:15:21,675233,0
"""

HELIOS_WHOLE = """job_id,arrival_s,service_sec,gpu_count
363167#0,0.0,172800.0,32
394948#2,651507.5,60.0,8
"""

OPENB = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,\
qos,pod_phase,creation_time,deletion_time,scheduled_time
pod-0,12000,16384,1,1000,,LS,Running,100,700,100
pod-1,6000,12288,1,460,,BE,Failed,150,400,160
pod-2,88000,327680,8,1000,V100M32,LS,Succeeded,300,1800,300
"""

TIRESIAS = """job_id,num_gpu,submit_time,iterations,model_name,duration,interval
0,1,0,606,vgg19,164,30
1,8,30,133,vgg11,147,23
2,2,53,157,inception4,127,26
"""

SWF = """; Version: 2.2
; MaxProcs: 128
; Note: made up
    1        0     -1   1451  128     -1    -1   -1     -1    -1 -1   1   1  -1 -1 -1 -1 -1
    2     1460     -1   3726   32     -1    -1   -1     -1    -1 -1   1   1  -1 -1 -1 -1 -1
    3     5198     -1   1067    1     -1    -1   -1     -1    -1 -1   1   1  -1 -1 -1 -1 -1
"""

SIA = """name,time,application,num_replicas,batch_size
tiny-0,487.5,tiny,1,16
tiny-1,670.5,tiny,2,16
deep-2,811.0,deep,4,64
"""

#: Profiles by model: placements and, by batch size, validation.
PROFILES = {
    "tiny": (
        "local_bsz,step_time,sync_time,placement\n8,0.125,0.0,1\n16,0.25,0.0,1\n8,0.15625,0.05,2\n16,0.3125,0.05,2\n",
        {16: "progress,iteration,metric\n50.0,50,0.5\n100.0,100,0.9\n"},
    ),
    "deep": (
        "placement,local_bsz,step_time,sync_time\n4,8,0.5,0.1\n4,32,1.0,0.1\n8,8,0.6,0.2\n48,8,0.7,0.3\n",
        {32: "iteration\n1000\n", 128: "iteration\n400\n"},
    ),
}


def helios_row(number: str = "5", time: str = "7000000", gpus: str = "8", duration: str = "60.0") -> str:
    """Return a row of the slice of Helios."""
    return f"{number},u1,vc1,finetune,{time},{gpus},,1,{duration},60.0,FAILED"


def pod(
    name: str = "pod-9",
    gpus: str = "1",
    milli: str = "1000",
    spec: str = "",
    created: str = "200",
    scheduled: str = "220",
    deleted: str = "400",
) -> str:
    """Return a row of openb's pods."""
    return f"{name},1000,2000,{gpus},{milli},{spec},LS,Running,{created},{deleted},{scheduled}"


def swf_line(
    number: int = 9, run: str = "60", allocated: str = "4", requested: str = "-1", submit: str = "999"
) -> str:
    """Return a line of Standard Workload Format."""
    return f"{number} {submit} -1 {run} {allocated} -1 -1 {requested} -1 -1 1 1 1 -1 -1 -1 -1 -1"


def dally_entry(number: int, **changes: object) -> dict[str, object]:
    """Return one entry of a Dally list."""
    entry = {
        "job_id": str(number),
        "user": "u",
        "submit_time": f"2020-03-31 20:00:{10 * number:02d}",
        "start_time": str(100 * number),
        "arrival_time": str(7 * number),
        "duration": str(50 + number),
        "total_iterations": str(10 * (50 + number) * 2**number),
        "time_per_iteration": "0.1",
        "model": "VGG",
        "batchsize": "64",
        "max_parallelism": str(2**number),
    }
    return entry | changes


DALLY = json.dumps([dally_entry(number) for number in range(1, 4)], indent=1)


def packed(**members: str) -> bytes:
    """Return a tar archive, not compressed, with text files; `_` in a name stands for a point."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, text in members.items():
            data = text.encode()
            entry = tarfile.TarInfo(name.replace("_", "."))
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def written(path: Path, *lines: str) -> Path:
    """Write lines into a file, and return its path."""
    path.write_text("\n".join(lines) + "\n")
    return path


def recorded(folder: Path, file: Path, text: str) -> Path:
    """Write a compressed record into a folder, and return the folder."""
    (folder / file).parent.mkdir()
    (folder / file).write_bytes(gzip.compress(text.encode()))
    return folder


def sia_folder(folder: Path, workload: str = SIA) -> Path:
    """Write a workload of Sia with the profiles of two models, and give the workload's path."""
    for model, (placements, validation) in PROFILES.items():
        home = folder / "profiles" / model
        home.mkdir(parents=True, exist_ok=True)
        (home / "placements-rtx.csv").write_text(placements)
        for batch_size, text in validation.items():
            (home / f"validation-{batch_size}.csv").write_text(text)
    path = folder / "workloads" / "newtrace" / "workload-1.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(workload)
    return path


#: One line of the older format, and two of the newer.
GAVEL = (
    "A3C\tpython3 main.py\t--max-steps\t0\t700\t0.000000\t1\n"
    "LM (batch size 5)\tpython main.py\tlm\t--steps\t1\t4000\t4\t1\t-1.000000\t60\n"
    "LM (batch size 5)\tpython main.py\tlm\t--steps\t1\t950\t2\t1\t-1.000000\t90.5\n"
)
#: A table of Gavel's throughputs: two configurations, pairs, two types of GPUs and workers far apart.
_ROWS = '{"(\'LM (batch size 5)\', 1)": {"null": 9.5, "x": [1, 2]}, "(\'LM (batch size 5)\', 4)": {"null": 20}}'
THROUGHPUTS = f"""{{
"v100": {_ROWS},
"k80": {{"('LM (batch size 5)', 1)": {{"null": 0}}}},
"v100_unconsolidated": {_ROWS}
}}"""
GAVEL_SPEEDS = {
    "v100": {
        "('A3C', 1)": {"null": 7.0},
        "('LM (batch size 5)', 2)": {"null": 9.5},
        "('LM (batch size 5)', 4)": {"null": 20.0},
    },
    "k80": {"('A3C', 1)": {"null": 3.5}, "('LM (batch size 5)', 2)": {"null": 0.0}},
}


def gavel_folder(folder: Path, trace: str = GAVEL) -> Path:
    """Write a trace of Gavel beside a table of speeds, and give the trace's path."""
    (folder / "simulation_throughputs.json").write_text(json.dumps(GAVEL_SPEEDS))
    path = folder / "traces" / "jobs.trace"
    path.parent.mkdir(exist_ok=True)
    path.write_text(trace)
    return path


#: The sample of every reader that reads text, and that of Dally, which is an object for each job.
TEXTS = {
    "ares": SIA,
    "castor": CASTOR,
    "crux": CRUX,
    "dally": DALLY,
    "gavel": GAVEL,
    "helios": HELIOS,
    "itp": ITP,
    "openb": OPENB,
    "philly": PHILLY,
    "sia": SIA,
    "swf": SWF,
    "tiresias": TIRESIAS,
}


def write_sample(name: str, folder: Path, text: str = "") -> Path:
    """Write the sample of a reader, or another text, into a folder, and return its path."""
    text = text or TEXTS[name]
    if name in {"ares", "sia"}:
        return sia_folder(folder, text)
    if name == "gavel":
        return gavel_folder(folder, text)
    path = folder / "trace"
    path.write_bytes(packed(cluster01_csv=text, LICENSE="MIT") if name == "itp" else text.encode())
    return path


def adaptive_folder(folder: Path) -> Path:
    """Write a workload of Pollux, one of Sia, and what was measured of BERT; give the folder of all traces."""
    home = folder / "sia" / "profiles" / "bert"
    home.mkdir(parents=True)
    placements = [
        f"{shape},{local},{0.1 + 0.01 * local + 0.02 * len(shape)},{0.02 * len(shape)}"
        for shape in ("1", "2", "4", "11", "22", "44")
        for local in (4, 8, 12)
    ]
    (home / "placements-aws.csv").write_text(
        "\n".join(["placement,local_bsz,step_time,sync_time", *placements]) + "\n"
    )
    spread = [
        f"{nodes},{gpus},{local},{0.2 + 0.01 * local},0.1"
        for nodes, gpus in ((4, 4), (4, 16))
        for local in (4, 8, 12)
    ]
    (home / "scalability-aws.csv").write_text(
        "\n".join(["num_nodes,num_replicas,local_bsz,step_time,sync_time", *spread]) + "\n"
    )
    for batch in (12, 96):
        epochs = [f"{n * 1000.0},{n * 12000 // batch},0.5,{1.0 / n},{2.0 * n}" for n in (1, 2)]
        (home / f"validation-{batch}.csv").write_text(
            "\n".join(["progress,iteration,metric,grad_sqr,grad_var", *epochs]) + "\n"
        )
    rows = ["name,time,application,num_replicas,batch_size", "bert-0,30,bert,2,24", "bert-1,70,bert,1,12"]
    for place in ("pollux_osdi21/workloads", "sia/workloads/philly"):
        path = folder / place / "workload-1.csv"
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(rows) + "\n")
    return folder
