"""Damaged files are repaired or salvaged with a warning that says what was lost, or refused with one clear message."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.trace import TraceUnreadable, diagnose
from tests.lab.trace.traces import as_text, input_bound

Change = Callable[[str], bytes]

SOUND = as_text(input_bound())
EVENTS = SOUND.count('"ph": "X"')


def text(change: Callable[[str], str]) -> Change:
    return lambda sound: change(sound).encode("utf-8", "surrogateescape")


def each_kernel(old: str, new: str) -> Change:
    """Change all kernels' text."""
    return text(lambda sound: re.sub(r'("cat": "kernel".*?\n)', lambda found: found[0].replace(old, new), sound))


def one_kernel(old: str, new: str, which: int = 2) -> Change:
    """Change the text of one kernel."""

    def change(sound: str) -> str:
        kernels = list(re.finditer(r'"cat": "kernel".*?\n', sound))
        found = kernels[which]
        assert old in found[0]
        return sound[: found.start()] + found[0].replace(old, new, 1) + sound[found.end() :]

    return text(change)


def replaced(old: str, new: str, count: int = -1) -> Change:
    def change(sound: str) -> str:
        assert old in sound
        return sound.replace(old, new, count)

    return text(change)


def without_head(sound: str) -> str:
    return sound[sound.index('"cat": "kernel"') :]


def as_list(sound: str) -> str:
    return json.dumps(json.loads(sound)["traceEvents"])


def with_metadata_at_the_end(sound: str) -> str:
    trace = json.loads(sound)
    events = trace.pop("traceEvents")
    return json.dumps({"traceEvents": events, **trace, "distributedInfo": {"rank": 3}})


def other_key_order(sound: str) -> str:
    trace = json.loads(sound)
    trace["traceEvents"] = [dict(sorted(event.items())) for event in trace["traceEvents"]]
    return json.dumps(trace)


def with_objects_in_arguments(sound: str) -> str:
    trace = json.loads(sound)
    for event in trace["traceEvents"]:
        event["args"] = {"list": [{"ph": 1}, {"ph": 2}], **event["args"]}
    return json.dumps(trace)


def zipped(sound: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("trace.json", sound)
    return packed.getvalue()


def gzip_with_a_flipped_byte(sound: str) -> bytes:
    packed = bytearray(gzip.compress(sound.encode() + b" " * 100_000, mtime=0))
    packed[-6] ^= 0xFF  # the checksum
    return bytes(packed)


# What is read as if nothing was wrong.
SOUND_AFTER_ALL: dict[str, Change] = {
    "as it is": text(str),
    "gzip": lambda sound: gzip.compress(sound.encode()),
    "gzip in two members": lambda sound: gzip.compress(sound[:999].encode()) + gzip.compress(sound[999:].encode()),
    "gzip with zeros after it": lambda sound: gzip.compress(sound.encode()) + bytes(512),
    "byte order mark": lambda sound: b"\xef\xbb\xbf" + sound.encode(),
    "a list without an object": text(as_list),
    "metadata after the events": text(with_metadata_at_the_end),
    "keys in another order": text(other_key_order),
    "objects in the arguments": text(with_objects_in_arguments),
    "Windows line ends": replaced("\n", "\r\n"),
    "no spaces": text(lambda sound: json.dumps(json.loads(sound), separators=(",", ":"))),
    "a key twice": each_kernel('"dur": ', '"dur": 1.0, "dur": '),
    "an enormous process number": replaced('"cat": "cpu_op", ', '"cat": "cpu_op", "id": 99999999999999999999999, '),
    "times as text": text(lambda sound: re.sub(r'"(ts|dur)": ([\d.]+)', r'"\1": "\2"', sound)),
    "an enormous integer": each_kernel('"args": {', '"args": {"Comms Id": 123456789012345678901234567890, '),
    "numbers in exponents": replaced('"dur": 4000', '"dur": 4e3'),
    "other categories' case": replaced('"cat": "kernel"', '"cat": "Kernel"'),
    "null arguments of host events": replaced('"name": "aten::mm", "pid": 100', '"name": "aten::mm", "pid": null'),
    "spaces at both ends": text(lambda sound: f"\n\n {sound} \n\n"),
    "non-English names": replaced("gemm", "Matrixmultiplikation für 行列"),
}

# What is repaired or salvaged: what a warning has to say, and how many events may be missing.
SALVAGED: dict[str, tuple[Change, str, int]] = {
    "UTF-16": (lambda sound: sound.encode("utf-16"), "UTF-16", 0),
    "UTF-16 without its mark": (lambda sound: sound.encode("utf-16-le"), "UTF-16", 0),
    "UTF-32": (lambda sound: sound.encode("utf-32"), "UTF-32", 0),
    "control character in a name": (each_kernel("gemm", "ge\x01mm"), "control characters", 0),
    "newline in a name": (one_kernel("gemm", "ge\nmm"), "repaired", 0),
    "backslashes of Windows": (each_kernel("gemm", r"C:\Users\caches"), "backslashes", 0),
    "half an escape": (one_kernel("gemm", r"ge\u12mm"), "backslashes", 0),
    "a quote in a name": (each_kernel("gemm", 'ge"m"m'), "quote", 0),
    "a value is missing": (replaced('"schemaVersion": 1', '"schemaVersion": '), "missing values", 0),
    "an argument is missing": (
        each_kernel('"args": {', '"args": {"Process Group Description": , '),
        "missing values",
        0,
    ),
    "bare N/A": (each_kernel('"args": {', '"args": {"x": N/A, '), "no numbers", 0),
    "NaN in an argument": (each_kernel('"args": {', '"args": {"x": NaN, '), "no numbers", 0),
    "nan as C prints it": (each_kernel('"args": {', '"args": {"x": -nan(ind), '), "no numbers", 0),
    "infinity": (each_kernel('"args": {', '"args": {"x": [-Infinity, inf], '), "no numbers", 0),
    "a comma too many": (replaced('\n  ],\n  "traceName"', ',\n  ],\n  "traceName"'), "commas", 0),
    "two commas": (replaced("},\n  {", "},\n,  {", 3), "commas", 0),
    "bytes that are no text": (each_kernel("gemm", "ge\udcff\udcfemm"), "no text", 0),
    "duration NaN": (one_kernel('"dur": 4000', '"dur": NaN'), "no duration", 1),
    "duration negative": (one_kernel('"dur": 4000', '"dur": -4000'), "negative", 1),
    "duration of centuries": (one_kernel('"dur": 4000', '"dur": 7e15'), "a week or more", 1),
    "duration missing": (one_kernel('"dur": 4000, ', ""), "no duration", 1),
    "duration a list": (one_kernel('"dur": 4000', '"dur": [4000]'), "no duration", 1),
    "time missing": (one_kernel('"ts": ', '"was": '), "no time", 1),
    "time is text that is no number": (one_kernel('"ts": ', '"ts": "soon", "was": '), "no time", 1),
    "time null": (one_kernel('"ts": ', '"ts": null, "was": '), "no time", 1),
    "time of another year": (one_kernel('"ts": ', '"ts": 1700000000000000, "was": '), "a week or more from", 1),
    "time beyond all numbers": (one_kernel('"ts": ', '"ts": 1e999, "was": '), "no time", 1),
    "correlation beyond all numbers": (one_kernel('"correlation": ', '"correlation": 1e999, "was": '), "", 1),
    "an event that is a number": (replaced('"traceEvents": [', '"traceEvents": [7,'), "1 of about", 0),
    "an event that is null": (replaced('"traceEvents": [', '"traceEvents": [null,'), "1 of about", 0),
    "cut in an event": (text(lambda sound: sound[:-150]), "cut short", 2),
    "cut between events": (text(lambda sound: sound[: sound.rindex(",\n  {")]), "cut short", 1),
    "cut before the last bracket": (text(lambda sound: sound[: sound.rindex("]")]), "cut short", 0),
    "gzip cut short": (lambda sound: gzip.compress(sound.encode())[:-30], "cut short", 8),
    "gzip with a wrong checksum": (gzip_with_a_flipped_byte, "damaged", 0),
    "begin lost": (text(without_head), "begin", 4),
    "events without a list": (
        text(lambda sound: "\n".join(json.dumps(each) for each in json.loads(sound)["traceEvents"])),
        "begin",
        0,
    ),
    "two traces in one file": (text(lambda sound: sound + sound), "follows the end", 0),
    "a log line after the end": (text(lambda sound: sound + "\nSTAGE:2024 done\n"), "follows the end", 0),
    "a brace is missing": (
        text(lambda sound: sound.replace('"correlation": 3}\n  }', '"correlation": 3\n  ', 1)),
        "repaired",
        1,
    ),
    "garbage between events": (replaced("},\n  {", "},\n  ### {", 1), "couldn't be read", 1),
    "zeros in the middle": (replaced("},\n  {", "},\n  \0\0\0\0 {", 2), "", 0),
}

REFUSED: dict[str, tuple[Change, str]] = {
    "empty": (lambda _: b"", "is empty"),
    "only spaces": (lambda _: b" \n\n", "is empty"),
    "only zeros": (lambda _: bytes(100), "is empty"),
    "empty gzip": (lambda _: gzip.compress(b""), "is empty"),
    "gzip damaged from the start": (lambda sound: gzip.compress(sound.encode())[:12] + b"\xff" * 50, "gzip"),
    "text": (lambda _: b"step 1 took 3 ms\n", "no JSON"),
    "a web page": (lambda _: b"<!doctype html><title>Sign in</title>", "web page"),
    "JSON of another kind": (lambda _: b'{"loss": [1, 2]}', "no traceEvents"),
    "JSON that is a number": (lambda _: b"42", "not a trace"),
    "traceEvents is null": (lambda _: b'{"traceEvents": null}', "no list"),
    "traceEvents is an object": (lambda _: b'{"traceEvents": {}}', "no list"),
    "cut before the first event": (text(lambda sound: sound[:90]), "before its first event"),
    "no event readable": (lambda _: b'{"traceEvents": [1, 2, 3]}', "none of its events"),
    "zip": (zipped, "zip archive"),
    "zstd": (lambda _: b"\x28\xb5\x2f\xfd" + bytes(20), "zstd"),
    "a pickle": (lambda _: b"\x80\x04\x95" + bytes(20), "pickle"),
    "nested too deeply": (lambda _: b'{"a": ' * 200_000, "before its first event"),
    "random bytes": (lambda _: bytes(range(128, 256)) * 50, "no JSON"),
}

# A trace, but one that says nothing of a GPU.
NOTHING_TO_SAY: dict[str, Change] = {
    "no events": lambda _: b'{"traceEvents": []}',
    "an empty list": lambda _: b"[]",
    "an empty list in gzip": lambda _: gzip.compress(b"[]"),
    "only metadata": lambda _: (
        b'{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}}]}'
    ),
    "no category": replaced('"cat"', '"kind"'),
}


def found(tmp_path: Path, change: Change, name: str = "trace.json"):
    file = tmp_path / name
    file.write_bytes(change(SOUND))
    return diagnose(file)


def test_there_are_enough_variants() -> None:
    assert len(SOUND_AFTER_ALL) + len(SALVAGED) + len(REFUSED) + len(NOTHING_TO_SAY) >= 40


@pytest.mark.parametrize("case", SOUND_AFTER_ALL)
def test_harmless_variants_are_read_without_a_warning(tmp_path: Path, case: str) -> None:
    sound, told = found(tmp_path, text(str)), found(tmp_path, SOUND_AFTER_ALL[case])
    assert told.warnings == ()
    assert told.verdict.bottleneck == "input"
    assert told.devices[0].idle == sound.devices[0].idle
    assert told.steps == sound.steps


@pytest.mark.parametrize("case", SALVAGED)
def test_damage_is_repaired_and_told(tmp_path: Path, case: str) -> None:
    change, word, missing = SALVAGED[case]
    sound, told = found(tmp_path, text(str)), found(tmp_path, change)
    if word:
        assert word in " ".join(told.warnings)
    assert told.verdict.bottleneck == "input"
    assert told.verdict.share == pytest.approx(sound.verdict.share, abs=0.02 if not missing else 0.25)
    device = told.devices[0]
    assert device.compute_us + device.communication_us + device.copies_us + device.idle_us == pytest.approx(
        device.window_us, abs=1
    )
    if not missing:
        assert device.compute_us == sound.devices[0].compute_us


@pytest.mark.parametrize("case", SOUND_AFTER_ALL | SALVAGED)
def test_files_that_are_read_in_many_pieces_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    change = SOUND_AFTER_ALL[case] if case in SOUND_AFTER_ALL else SALVAGED[case][0]
    at_once = found(tmp_path, change)
    monkeypatch.setattr("lab.trace.source.PIECE_BYTES", 300)
    monkeypatch.setattr("lab.trace.read.BATCH_BYTES", 1_000)
    in_pieces = found(tmp_path, change)
    assert in_pieces.devices == at_once.devices
    assert set(in_pieces.warnings) == set(at_once.warnings)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_trace_is_refused_with_a_reason(tmp_path: Path, case: str) -> None:
    change, word = REFUSED[case]
    with pytest.raises(TraceUnreadable, match=re.escape(word)):
        found(tmp_path, change)


@pytest.mark.parametrize("case", NOTHING_TO_SAY)
def test_a_trace_without_a_gpu_gets_no_verdict(tmp_path: Path, case: str) -> None:
    told = found(tmp_path, NOTHING_TO_SAY[case])
    assert told.verdict.bottleneck == "unknown"
    assert told.verdict.summary.startswith("I can't tell")


@pytest.mark.parametrize(("name", "packed"), [("trace.json.gz", False), ("trace.json", True), ("trace.log", True)])
def test_the_name_of_a_file_doesnt_matter(tmp_path: Path, name: str, packed: bool) -> None:
    told = found(tmp_path, (lambda sound: gzip.compress(sound.encode())) if packed else text(str), name)
    assert (told.verdict.bottleneck, told.warnings) == ("input", ())


def test_a_folder_is_refused_with_the_traces_in_it(tmp_path: Path) -> None:
    (tmp_path / "rank0.json").write_text("{}")
    with pytest.raises(TraceUnreadable, match=r"is a folder.*rank0\.json"):
        diagnose(tmp_path)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(TraceUnreadable, match=r"no file 'nowhere\.json'"):
        diagnose("nowhere.json")


@pytest.mark.parametrize("cut", range(40, len(SOUND), 251))
def test_a_file_cut_anywhere_is_read_up_to_there_or_refused(tmp_path: Path, cut: int) -> None:
    try:
        told = found(tmp_path, text(lambda sound: sound[:cut]))
    except TraceUnreadable:
        assert cut < SOUND.index('"dur"') + 300
    else:
        assert "cut short" in " ".join(told.warnings)
        assert "again" in told.record_better[0]


def test_a_cut_file_without_a_gpu_is_recorded_again_not_with_the_gpu(tmp_path: Path) -> None:
    told = found(tmp_path, text(lambda sound: sound[: sound.index("kernel") - 40]))
    assert "cut short" in told.verdict.summary
    assert not [each for each in told.record_better if "Record the GPU" in each]
