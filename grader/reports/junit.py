"""junit.xml: the checks for continuous integration, in the form that pytest writes and Jenkins validates.

A suite for each student and exercise, with the seed and the GPU among its properties; a case for each check. A failed
check is a failure; one of a submission that stopped with an error, ran out of time or crashed is an error; what was not
handed in is skipped.
"""

from __future__ import annotations

from xml.etree import ElementTree as Tree

from grader.batch.records import Gradebook, Result, Row, Score
from grader.reports.characters import plain
from grader.reports.scores import moment, was_tried
from grader.reports.words import Words
from grader.verdict import Verdict


def junit_xml(gradebook: Gradebook, words: Words) -> bytes:
    root = Tree.Element("testsuites", name=plain(gradebook.title))
    for row in gradebook.rows:
        for score in row.scores:
            root.append(_suite(row, score, words))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in root):.3f}")
    Tree.indent(root)
    data: bytes = Tree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _suite(row: Row, score: Score, words: Words) -> Tree.Element:
    suite = Tree.Element("testsuite", name=plain(f"{row.student.id}: {score.exercise}"))
    verdict = score.counted.verdict if score.counted is not None else None
    if score.counted is not None:
        suite.set("timestamp", moment(score.counted.graded_at_s).strftime("%Y-%m-%dT%H:%M:%S"))
        properties = Tree.SubElement(suite, "properties")
        for name, value in _properties(score, score.counted).items():
            Tree.SubElement(properties, "property", name=name, value=plain(value))
    if verdict is not None and was_tried(score):
        _cases(suite, row, score, verdict)
    else:
        missing = score.status in ("missing", "unanswered")
        case = _case(suite, row, score, words("junit.handed_in" if missing else "junit.graded"), 0.0)
        _outcome(case, "skipped" if missing else "error", score.status, words(f"status.{score.status}"))
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(kind) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    return suite


def _properties(score: Score, result: Result) -> dict[str, str]:
    gpu = result.verdict.gpu if result.verdict is not None else None
    return {
        "points": f"{score.points:g}",
        "max_points": str(score.max_points),
        "seed": str(result.seed),
        "source_sha256": result.source_sha256,
        "course_version": result.course_version,
        "isolation": ", ".join(result.isolation),
        "gpu": f"{gpu.kind}: {gpu.name}" if gpu is not None else "",
        "file": result.attempt.shown,
    }


def _cases(suite: Tree.Element, row: Row, score: Score, verdict: Verdict) -> None:
    """The time of a submission is that of its first case, since its checks aren't timed one by one."""
    ended_early = verdict.status in ("error", "timeout", "crashed")
    for place, check in enumerate(verdict.checks):
        case = _case(suite, row, score, check.name, 0.0 if place else verdict.duration_s)
        if not check.passed:
            kind = "error" if ended_early else "failure"
            _outcome(case, kind, check.mistake or verdict.status, check.message or verdict.status)


def _case(suite: Tree.Element, row: Row, score: Score, name: str, duration_s: float) -> Tree.Element:
    # Jenkins takes what stands before the last dot for a package.
    classname = f"{row.student.id.replace('.', '_')}.{score.exercise.replace('/', '.')}"
    return Tree.SubElement(
        suite, "testcase", name=plain(name), classname=plain(classname), time=f"{max(duration_s, 0.0):.3f}"
    )


def _outcome(case: Tree.Element, kind: str, type_: str, message: str) -> None:
    text = plain(message)
    outcome = Tree.SubElement(case, kind, type=plain(type_), message=text.partition("\n")[0])
    outcome.text = text
