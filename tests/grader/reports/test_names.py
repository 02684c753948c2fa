"""A student's id makes one name that every file system takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.reports.names import MAX_BYTES, safe_name, safe_names

ANY_TEXT = st.text(st.characters())


@pytest.mark.parametrize("student_id", ["s1234", "Müller Jürgen", "李", "ada@example.edu", "a.b-c_d", "Ada (2)"])
def test_an_id_that_can_be_a_name_stays_what_it_is(student_id: str) -> None:
    assert safe_name(student_id) == student_id


@pytest.mark.parametrize(
    "student_id",
    [
        "../x",
        "a/b",
        "a\\b",
        ".hidden",
        "CON",
        "con.txt",
        "COM¹",
        "x ",
        "x.",
        "",
        " ",
        "a\nb",
        "a" * 300,
        "ü" * 80,
        "-rf",
    ],
)
def test_any_other_is_changed_and_gets_its_digest(student_id: str) -> None:
    assert safe_name(student_id) != student_id
    assert safe_name(student_id)[-9] == "-"


@given(ANY_TEXT)
def test_any_id_makes_one_part_of_a_path(student_id: str) -> None:
    name = safe_name(student_id)
    assert Path("x", name).parts == ("x", name)
    assert len(name.encode()) <= MAX_BYTES
    assert not name.startswith((".", "-", " "))
    assert not name.endswith((".", " "))
    assert not set(name) & set('/\\:*?"<>|\0\n')
    assert name == safe_name(student_id)


@given(st.lists(ANY_TEXT, unique=True, max_size=8))
def test_the_names_of_a_class_are_all_different_whatever_case_a_file_system_ignores(ids: list[str]) -> None:
    names = safe_names(ids)
    assert set(names) == set(ids)
    assert len({name.casefold() for name in names.values()}) == len(ids)
    assert names == safe_names(reversed(ids))


def test_ids_that_differ_in_case_or_in_the_form_of_an_accent_get_different_names() -> None:
    names = safe_names(["anna", "Anna", "J\u00fcrgen", "Ju\u0308rgen"])
    assert len({name.casefold() for name in names.values()}) == 4
    assert all(len(name.encode()) <= MAX_BYTES for name in names.values())


def test_an_id_that_looks_like_the_name_of_another_gets_a_name_of_its_own() -> None:
    taken = safe_name("a/b")
    assert len(set(safe_names(["a/b", taken]).values())) == 2
