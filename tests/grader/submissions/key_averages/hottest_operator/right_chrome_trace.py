import collections
import json
import tempfile
from pathlib import Path


def hottest_operator(prof):
    path = Path(tempfile.mkdtemp()) / "trace.json"
    prof.export_chrome_trace(str(path))
    events = json.loads(path.read_text())["traceEvents"]
    ops = {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
    total = collections.Counter()
    for e in events:
        if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            total[ops[e["args"]["External id"]]] += e["dur"]
    return max(total, key=total.get)
