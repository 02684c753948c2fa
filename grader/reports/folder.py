"""Which reports lie in a folder of results, and under which names."""

from __future__ import annotations

from collections.abc import Iterator

from grader.batch.records import Gradebook
from grader.reports.canvas import canvas_csv
from grader.reports.class_report import class_html
from grader.reports.csv_cells import as_csv
from grader.reports.exercism import exercism_json
from grader.reports.feedback import feedback_html, feedback_markdown
from grader.reports.gradebook_csv import gradebook_csv
from grader.reports.gradescope import gradescope_json
from grader.reports.junit import junit_xml
from grader.reports.moodle import moodle_csv
from grader.reports.names import safe_name, safe_names
from grader.reports.results_json import results_json
from grader.reports.words import Words


def reports(gradebook: Gradebook, words: Words) -> Iterator[tuple[str, bytes]]:
    """Every report as its path below the folder and its bytes, one after the other."""
    names = safe_names(row.student.id for row in gradebook.rows)
    yield "results.json", results_json(gradebook)
    yield "gradebook.csv", gradebook_csv(gradebook)
    yield "gradebook-moodle.csv", moodle_csv(gradebook, words)
    yield "gradebook-canvas.csv", canvas_csv(gradebook)
    yield "not-assigned.csv", not_assigned_csv(gradebook)
    yield "junit.xml", junit_xml(gradebook, words)
    for row in gradebook.rows:
        name = names[row.student.id]
        yield f"students/{name}/feedback.md", feedback_markdown(gradebook.title, row, words)
        yield f"students/{name}/feedback.html", feedback_html(gradebook.title, row, words)
        yield f"gradescope/{name}.json", gradescope_json(row, words)
        for score in row.scores:
            data = exercism_json(score, words)
            if data is not None:
                lesson, _, exercise = score.exercise.partition("/")
                yield f"exercism/{name}/{safe_name(lesson)}/{safe_name(exercise)}.json", data
    yield "class.html", class_html(gradebook, words, names)


def not_assigned_csv(gradebook: Gradebook) -> bytes:
    return as_csv([("file", "why"), *((each.shown, each.why) for each in gradebook.not_assigned)], mark=True)
