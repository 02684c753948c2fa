"""Reading and diagnosing traces, beside HTA, json, orjson and msgspec: seconds and peak memory, and how they grow.

    python tests/benchmarks/trace_reading.py TRACE... [--others PYTHON] [--grow MEGABYTES...] [--runs N]

Each measurement is a process of its own; the shortest of the runs counts, and unpacking counts for all of them. Imports
don't. HTA and orjson aren't dependencies of the project: --others names a Python that has them
(pip install HolisticTraceAnalysis orjson). --grow repeats the first trace up to these sizes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURE = """
import gzip, re, resource, sys, time
path = sys.argv[1]
{imports}
def unpacked():
    with open(path, "rb") as file:
        content = file.read()
    return gzip.decompress(content) if content[:2] == b"\\x1f\\x8b" else content
def peak_kib():
    # Linux counts what a parent used before the program began; the file in /proc doesn't.
    try:
        return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak_kib()
began = time.perf_counter()
{act}
seconds = time.perf_counter() - began
print("MEASURED", seconds, peak_kib() / 1024, before / 1024)
"""

OURS = {
    "json": ("import json", "json.loads(unpacked())"),
    "msgspec, typed": (
        "import msgspec\nfrom lab.trace.schema import Rest\ndecoder = msgspec.json.Decoder(Rest)",
        "decoder.decode(unpacked())",
    ),
    "lab.trace.read": ("from lab.trace.read import read", "read(path)"),
    "lab.trace.diagnose": ("from lab.trace import diagnose", "diagnose(path)"),
}
OTHERS = {
    "orjson": ("import orjson", "orjson.loads(unpacked())"),
    "HTA": (
        "import logging, warnings\nlogging.disable(logging.CRITICAL)\nwarnings.simplefilter('ignore')\n"
        "from hta.trace_analysis import TraceAnalysis",
        "analysis = TraceAnalysis(trace_files={0: path}, trace_dir='')\n"
        "analysis.get_idle_time_breakdown(ranks=[0], visualize=False)\n"
        "analysis.get_temporal_breakdown(visualize=False)",
    ),
}


def measured(python: str, program: tuple[str, str], path: Path, runs: int) -> tuple[float, float, float] | str:
    """Seconds, peak MiB, and MiB before; or why not."""
    found = []
    for _ in range(runs):
        code = MEASURE.format(imports=program[0], act=program[1])
        done = subprocess.run([python, "-c", code, str(path)], capture_output=True, text=True, check=False)
        line = next((line for line in done.stdout.splitlines() if line.startswith("MEASURED")), "")
        if not line:
            reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
            return "missing" if "ModuleNotFoundError" in reason else f"failed: {reason[:80]}"
        found.append(tuple(float(value) for value in line.split()[1:]))
    return min(found)  # type: ignore[return-value]


def repeated(path: Path, megabytes: int, folder: Path) -> Path:
    """A trace of about this size: the events of another one, again and again, each time later."""
    content = path.read_bytes()
    trace = json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content, strict=False)
    events = [event for event in trace.pop("traceEvents") if isinstance(event.get("ts"), (int, float))]
    timed = [event for event in events if event.get("ph") == "X" and event.get("cat") != "Trace"]
    first = min(event["ts"] for event in timed)
    span = max(event["ts"] + event["dur"] for event in timed) - first + 1_000
    last_number = max(event.get("args", {}).get("correlation", 0) for event in events)
    file = folder / f"repeated_{megabytes}.json"
    with file.open("w") as out:
        out.write(json.dumps(trace)[:-1] + ', "traceEvents": [')
        copies, size = 0, out.tell()
        while size < megabytes * 2**20:
            for event in events:
                if size >= megabytes * 2**20:
                    break
                moved = {**event, "ts": event["ts"] + copies * span}
                if "correlation" in moved.get("args", {}):
                    number = moved["args"]["correlation"] + copies * last_number
                    moved["args"] = {**moved["args"], "correlation": number}
                size += out.write(("" if event is events[0] and not copies else ",\n") + json.dumps(moved))
            copies += 1
        out.write("]}")
    return file


def table(path: Path, others: str | None, runs: int, only: tuple[str, ...] = ()) -> None:
    content = path.read_bytes()
    size = (len(gzip.decompress(content)) if content[:2] == b"\x1f\x8b" else len(content)) / 2**20
    del content
    print(f"\n{path.name}: {size:.0f} MiB of text")
    print(f"  {'':<20}{'seconds':>9}{'peak MiB':>10}{'of which before':>17}{'peak / text':>13}")
    programs = [(name, sys.executable, program) for name, program in OURS.items()]
    programs += [(name, others or "", program) for name, program in OTHERS.items()]
    for name, python, program in programs:
        if only and name not in only:
            continue
        result = measured(python, program, path, runs) if python else "missing (see --others)"
        if isinstance(result, str):
            print(f"  {name:<20}  {result}", flush=True)
            continue
        seconds, peak, before = result
        print(f"  {name:<20}{seconds:9.2f}{peak:10.0f}{before:17.0f}{peak / size:13.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--others", metavar="PYTHON", help="a Python that has HTA and orjson")
    parser.add_argument("--grow", metavar="MEGABYTES", nargs="*", type=int, default=[])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for path in options.traces:
        table(path, options.others, options.runs)
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in options.grow:
            path = repeated(options.traces[0], megabytes, Path(folder))
            table(path, None, 1, ("msgspec, typed", "lab.trace.read", "lab.trace.diagnose"))
            path.unlink()


if __name__ == "__main__":
    main()
