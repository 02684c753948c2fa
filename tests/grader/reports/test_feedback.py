"""What a student is told: everything that helps, exactly, and nothing that isn't theirs."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.reports.characters import one_line, plain
from grader.reports.class_figures import checks, exercises
from grader.reports.feedback import feedback_html, feedback_markdown
from grader.reports.junit import junit_xml
from grader.reports.pages import in_markdown
from grader.reports.words import Words
from tests.grader.reports.classes import (
    UNANSWERED,
    VERDICTS,
    class_of,
    gradebook,
    result,
    row,
    score,
    student,
    verdict_saying,
)

WORDS = Words()
ANY_TEXT = st.text(st.characters())
# Texts that mean something in HTML or in Markdown come up more often than by chance.
TROUBLESOME = st.lists(st.sampled_from([*"<>&\"'`*_[]()#-+=|~!\\.: \n\t1a", "&lt;", "](x)", "www.a.bc", "http://a.bc"]))
TEXTS = ANY_TEXT | TROUBLESOME.map("".join)
MARKDOWN = MarkdownIt("gfm-like")
OURS = {"p", "span", "code", "li", "ul", "h1", "h2", "h3", "table", "caption", "thead", "tbody", "tr", "th", "td", "a"}
OURS |= {"html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "svg", "rect", "pre"}


class Read(HTMLParser):
    """A page's elements, their attributes, and its text without style and script."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self._classes: list[str] = []
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in ("meta", "wbr"):
            self._open.append(f"{tag}.{dict(attrs).get('class', '')}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop().partition(".")[0] == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((" ".join(self._open), data))

    def of(self, kind: str) -> str:
        return "".join(text for path, text in self.texts if f" {kind}" in path)


def page(*scores: object, name: str = "Ada") -> Read:
    return Read(feedback_html("Spring", row(student(name=name), *scores), WORDS))  # type: ignore[arg-type]


def markdown(*scores: object, name: str = "Ada") -> str:
    return feedback_markdown("Spring", row(student(name=name), *scores), WORDS).decode()  # type: ignore[arg-type]


def rendered(text: str) -> list[tuple[str, str]]:
    """The kinds and contents of what a reader of Markdown makes of it."""
    found = []
    for token in MARKDOWN.parse(text):
        found.append((token.type, token.content))
        found += [(child.type, child.content) for child in token.children or ()]
    return found


def shown(text: str) -> str:
    """A message as a page shows it: `code` is set as code without its marks; indented lines are code as they are."""
    lines = plain(text).split("\n")
    return "\n".join(line if line[:1] == " " else re.sub("(?<!`)`([^`\n]+)`(?!`)", r"\1", line) for line in lines)


def test_each_check_has_its_message_and_where_the_course_teaches_it() -> None:
    verdict = VERDICTS[1]
    text = page(score(result(verdict))).of("ul.checks")
    for check in verdict.checks:
        assert check.name in text
    assert str(verdict.checks[1].message) in text
    assert text.count("Read again: lesson 1, Measure before you optimize, the card “Between two readings”.") == 1


def test_a_message_that_several_checks_have_is_given_once() -> None:
    crashed = next(each for each in VERDICTS if each.status == "crashed")
    for text in (page(score(result(crashed))).of("ul.checks"), markdown(score(result(crashed))).replace("\\", "")):
        assert text.count(str(crashed.checks[0].message)) == 1
        assert text.count("For the same reason as above.") == len(crashed.checks) - 1


def test_each_question_of_a_quiz_keeps_its_own_message() -> None:
    quiz = next(each for each in VERDICTS if each.exercise.endswith("/quiz"))
    assert page(score(result(quiz))).of("ul.checks").count("Not answered.") == len(quiz.checks)


def test_lateness_overrides_seed_and_how_to_repeat_are_told() -> None:
    late = score(result(VERDICTS[0]), late_days=1.5, points=4.25, before_lateness=5.0)
    oral = score(result(VERDICTS[7], shown="ada's files/x y.py"), points=3.0, overridden="Oral exam")
    for text in (page(late, oral).of("main"), markdown(late, oral)):
        assert "Handed in 1.5 days late: 4.25 points instead of 5." in text
        assert "Your instructor set the points to 3: Oral exam" in text
        assert "profile-first check time_one_batch.py --exercise perf_counter/time_one_batch --seed 7" in text
        assert "profile-first check 'x y.py' --exercise" in text


def test_of_several_attempts_the_one_that_counts_is_named_whatever_the_policy_says() -> None:
    latest = score(result(VERDICTS[0], number=3), attempts=3)
    for text in (page(latest).of("main"), markdown(latest)):
        assert "3 attempts; number 3 is the one that counts." in text
        assert "most points" not in text


def test_what_only_concerns_the_machine_or_the_instructor_is_not_told() -> None:
    secret = result(None, trouble="no space left on /dev/sda1", look=["opens /proc/1/mem"], file="/srv/secret/x.py")
    for text in (page(score(secret)).of("main"), markdown(score(secret))):
        assert "could not be graded yet" in text
        assert not re.search("sda1|/proc|/srv|bubblewrap", text)


def test_a_class_of_real_verdicts_makes_pages_of_our_own_elements_only() -> None:
    for each in class_of(30).rows:
        read = Read(feedback_html("Spring", each, WORDS))
        assert read.tags <= OURS
        assert not [name for name, _ in read.attributes if name.startswith("on") or name in ("src", "style", "srcset")]
        assert all((value or "").startswith("#") for name, value in read.attributes if name == "href")


def test_a_page_lets_nothing_in() -> None:
    policies = [value or "" for _, value in page(score(None)).attributes if "default-src" in (value or "")]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policies[0]
    assert "script-src" not in policies[0], "a page without a script allows none"


@given(TEXTS)
def test_any_text_makes_a_page_in_which_it_comes_back_and_nothing_of_it_is_an_element(text: str) -> None:
    odd = score(result(verdict_saying(text), shown=text), overridden=text)
    read = page(odd, name=text)
    assert read.tags <= OURS
    assert not [name for name, _ in read.attributes if name.startswith("on") or name in ("src", "style")]
    assert read.of("p.message") == shown(text)
    assert read.of("span.name") == shown(text)
    assert plain(text) in read.of("p.who")


@given(TEXTS)
def test_any_text_shows_in_markdown_as_it_is_and_nothing_of_it_is_markup(text: str) -> None:
    found = rendered(markdown(score(result(verdict_saying(text), shown=text), overridden=text), name=text))
    kinds = {kind for kind, _ in found}
    assert not kinds & {"html_inline", "html_block", "link_open", "image", "hr", "blockquote_open", "s_open"}
    assert not kinds & {"em_open", "strong_open", "ordered_list_open"}
    assert sum(kind == "heading_open" for kind, _ in found) == 2
    blocks = [content.removesuffix("\n") for kind, content in found if kind == "fence"]
    sentences = ["".join(content for _, content in _children(each)) for each in _inlines(found)]
    assert plain(text) in blocks or shown(text) in sentences or not text


def _inlines(found: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    groups: list[list[tuple[str, str]]] = []
    for kind, content in found:
        if kind == "inline":
            groups.append([])
        elif groups and kind in ("text", "code_inline", "text_special"):
            groups[-1].append((kind, content))
    return groups


def _children(group: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return group


@given(TEXTS)
def test_any_text_in_a_line_of_markdown_is_that_text(text: str) -> None:
    found = rendered(f"x {in_markdown(text)} y")
    assert "".join(content for kind, content in found if kind in ("text", "text_special")).split() == [
        "x",
        *one_line(text).split(),
        "y",
    ]


@pytest.mark.parametrize("name", ["1. First", "- item", "# head", "> quote", "=== x", "+ plus", "12) x"])
def test_a_name_that_begins_like_a_block_is_none(name: str) -> None:
    kinds = [kind for kind, _ in rendered(in_markdown(name))]
    assert kinds[:2] == ["paragraph_open", "inline"]


def test_a_quiz_that_was_not_answered_is_told_once_and_counts_for_nobody_as_tried():
    theirs = row(student(), score(result(UNANSWERED)))
    for page in (feedback_html("Class", theirs, WORDS).decode(), feedback_markdown("Class", theirs, WORDS).decode()):
        assert "None of the questions was answered" in page
        assert "not passed" not in page
        assert "Which?" not in page
    book = gradebook(theirs)
    assert [figures.tried for figures in exercises(book)] == [0]
    assert checks(book) == []
    assert b'skipped="1"' in junit_xml(book, WORDS)
