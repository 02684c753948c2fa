"""The command `diagnose`: what it prints, writes and returns."""

from __future__ import annotations

import io
import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from course import catalog, diagnosis_report
from course.cli import main
from course.remedies import REMEDIES
from course.report import Ink
from lab.language import speaking
from lab.trace.verdict import BOTTLENECKS, DeviceSplit
from tests.lab.trace.traces import Recorder, input_bound, write


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write(tmp_path / "trace.json", input_bound())


@pytest.fixture
def faster(tmp_path: Path) -> Path:
    recorder = Recorder()
    for number in range(5):
        begin = recorder.now
        recorder.launch(4_000)
        recorder.step(number, begin)
    return write(tmp_path / "faster.json", recorder.events)


def test_the_answer_in_words_has_verdict_split_evidence_and_advice(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(trace)]) == 0
    shown = capsys.readouterr().out
    for part in (
        "input, 60% of the time",
        "shorter by 6 ms at best",
        "2.49 times as fast",
        "GPU 0 Test GPU",
        "num_workers=0",
        "1. Load in parallel",
        "(diagnosis/input_bound)",
    ):
        assert part in " ".join(shown.split())
    assert max(map(len, shown.splitlines()[1:])) <= 100


def test_json_keeps_its_contract(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(trace), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"file", "verdict", "steps", "window_us", "devices", "warnings"} <= told.keys()
    assert set(told["verdict"]) == {"bottleneck", "share", "summary", "saves_at_most_us_per_step"}
    assert set(told["steps"]) == {"count", "median_us"}
    (device,) = told["devices"]
    parts = [device[key] for key in ("compute_us", "communication_us", "copies_us", "idle_us")]
    assert sum(parts) == pytest.approx(device["window_us"], abs=1)
    assert sum(device["idle"].values()) == pytest.approx(device["idle_us"], abs=1)
    assert told["verdict"]["share"] == pytest.approx(device["idle"]["input"] / told["window_us"])


def test_several_traces_are_a_list_in_json(trace: Path, faster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(trace), str(faster), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["verdict"]["bottleneck"] for each in told["traces"]] == ["input", "compute"]


def test_compare_without_steps_says_that_it_cannot_tell(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder()
    recorder.launch(4_000)
    without_steps = write(tmp_path / "without_steps.json", recorder.events)
    assert main(["diagnose", "--compare", str(trace), str(without_steps)]) == 0
    assert capsys.readouterr().out.startswith("I can't tell\n")


def test_causes_of_idle_time_are_called_the_same_in_every_language() -> None:
    split = DeviceSplit(0, "Card", 1000.0, 0.0, 0.0, 0.0, 1000.0, {"copies": 600.0, "launch": 400.0})
    ink = Ink(io.StringIO())
    with speaking("it"):
        shown = [line.split()[0] for line in diagnosis_report._device(split, ink)]
    assert shown[-3:] == ["pause", "copies", "launch"]


def test_compare_says_that_it_helped(trace: Path, faster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "--compare", str(trace), str(faster)]) == 0
    assert "a step takes 4 ms instead of 10 ms" in " ".join(capsys.readouterr().out.split())
    assert main(["diagnose", "--compare", str(faster), str(trace), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["comparison"]["helped"] is False


def test_traces_of_several_ranks_say_whom_the_others_wait_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for rank, collective_us in enumerate((6_000, 500)):
        recorder = Recorder()
        for number in range(4):
            begin = recorder.now
            recorder.load(6_100 - collective_us)
            recorder.launch(4_000)
            recorder.launch(collective_us, "ncclDevKernel_AllReduce")
            recorder.wait()
            recorder.step(number, begin)
        file = tmp_path / f"rank{rank}.json"
        files.append(str(write(file, recorder.events, distributedInfo={"rank": rank, "world_size": 2})))
    assert main(["diagnose", *files]) == 0
    assert "The others wait for rank 1, up to 5.5 ms per step" in capsys.readouterr().out
    assert main(["diagnose", *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ranks"]["waited_for"] == 1


class Links(HTMLParser):
    """Collects what a page would load from elsewhere, and the tags that it opens and closes."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href")]
        self.loads += [tag] if tag in ("script", "link", "iframe") else []
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("how", ["one", "two", "compare"])
def test_the_page_needs_nothing_else_and_is_well_formed(tmp_path: Path, trace: Path, faster: Path, how: str) -> None:
    events = [{**each, "name": each["name"].replace("gemm", "<b>&gemm")} for each in input_bound()]
    write(trace, events)
    page = tmp_path / "page.html"
    files = {"one": [str(trace)], "two": [str(trace), str(faster)], "compare": ["--compare", str(trace), str(faster)]}
    assert main(["diagnose", *files[how], "--html", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    links = Links()
    links.feed(text)
    assert (links.loads, links.open) == ([], [])
    assert "&lt;b&gt;&amp;gemm" in text


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_bad_file_is_one_message_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("not a trace")
    assert main(["diagnose", str(bad), *options]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert "Traceback" not in told.err


def test_a_bad_file_doesnt_keep_others_from_their_answer(
    tmp_path: Path, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(trace), str(tmp_path / "none.json"), "--json"]) == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["traces"][0]["verdict"]["bottleneck"] == "input"
    assert "none.json" in told.err


@pytest.mark.parametrize("arguments", [[], ["a.json", "--compare", "b.json", "c.json"]])
def test_traces_or_a_comparison_must_be_named(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", *arguments]) == 2
    assert "either traces or --compare" in capsys.readouterr().err


def test_a_page_that_cant_be_written_is_told(tmp_path: Path, trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(trace), "--html", str(tmp_path / f"{'long' * 99}.html")]) == 2
    assert "File name too long" in capsys.readouterr().err


def test_what_a_terminal_would_obey_is_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [{**each, "name": each["name"].replace("gemm", "ge\x1b[31mmm")} for each in input_bound()]
    assert main(["diagnose", str(write(tmp_path / "trace.json", events))]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_the_sentence_of_the_verdict_holds_nothing_either_that_a_terminal_would_obey(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder()
    for number in range(5):
        begin = recorder.now
        recorder.launch(1_000)
        recorder.wait("\x1b]0;a title\x07\u202ecudaDeviceSynchronize")
        recorder.nothing(4_000)
        recorder.step(number, begin)
    assert main(["diagnose", str(write(tmp_path / "trace.json", recorder.events))]) == 0
    said = capsys.readouterr().out
    assert "cudaDeviceSynchronize)" in said
    assert not set("\x1b\x07\u202e") & set(said)


def test_a_terminal_that_knows_only_ascii_gets_ascii(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
    assert main(["diagnose", str(trace)]) == 0
    assert b"######" in out.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_large_file_shows_a_bar_on_the_terminal(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr("course.diagnose.BIG_BYTES", 1)
    monkeypatch.setattr(sys, "stderr", shown)
    assert main(["diagnose", str(trace), "--json"]) == 0
    assert "100 %" in shown.getvalue()
    assert shown.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize("bottleneck", BOTTLENECKS)
def test_each_bottleneck_has_a_card_of_the_course(bottleneck: str) -> None:
    step = catalog.load().step(REMEDIES[bottleneck].card)
    assert step is not None
    assert step.kind == "card"
