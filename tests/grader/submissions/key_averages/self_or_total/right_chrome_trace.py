import json
import tempfile
from pathlib import Path


def read_the_profile(prof):
    path = Path(tempfile.mkdtemp(), "t.json")
    prof.export_chrome_trace(str(path))
    events = json.loads(path.read_text())["traceEvents"]
    gpu = sum(e["dur"] for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))
    wait = sum(e["dur"] for e in events if e.get("cat") == "cuda_runtime" and e["name"].endswith("Synchronize"))
    rows = prof.key_averages()
    ops = sorted((r for r in rows if r.key.startswith("aten::")), key=lambda r: r.self_cpu_time_total)
    spans = {r.key: r.device_time_total for r in rows if r.key in ("encoder", "decoder", "head") and r.cpu_time_total}
    return {
        "gpu_ms": gpu / 1000,
        "waiting_ms": wait / 1000,
        "cpu_operator": ops[-1].key,
        "gpu_region": max(spans, key=spans.get),
    }
