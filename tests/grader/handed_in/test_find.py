"""Whatever way a class's files come, each is somebody's for something, or listed with the reason."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from course.notebooks import write as write_notebooks
from grader.batch.records import Found, Student
from grader.errors import SubmissionNotFound
from grader.quiz import EXERCISES, SOLUTIONS
from grader.submissions.archives import Limits
from grader.submissions.find import find
from grader.submissions.roster import roster_of
from grader.tasks import in_language
from lab.language import LANGUAGES
from tests.grader.handed_in.conftest import zip_of

CLASS = roster_of(
    [
        Student("s2", "Ben Rossi", "ben.rossi@uni.it", "654321"),
        Student("s1", "Anna Muster", "anna@uni.it", "123456"),
        Student("s3", "Zoë Müller", "zoe@uni.it", "333333"),
    ]
)
TIME = "synchronize/time_on_the_gpu"
EVENTS = "synchronize/time_with_events"
QUIZ = "synchronize/quiz"
STARTER = (EXERCISES / f"{TIME}.py").read_text()
ANSWERS = '[answers]\nforward_or_copy = "forward"\n'


def assigned(found: Found) -> dict[str, tuple[str, str]]:
    return {each.shown: (each.student, each.exercise) for each in found.attempts}


def refused(found: Found) -> dict[str, str]:
    return {each.shown: each.why for each in found.not_assigned}


def owners(found: Found) -> list[tuple[str, str]]:
    return [(each.student, each.exercise) for each in found.attempts]


# Folders and files named by student


def test_a_folder_per_student(write):
    given = write({f"anna/{TIME}.py": "a", f"anna/{QUIZ}.toml": ANSWERS, f"ben/{TIME}.py": "b"})
    found = find(given)
    assert owners(found) == [("anna", QUIZ), ("anna", TIME), ("ben", TIME)]
    assert found.not_assigned == []
    assert [Path(each.file).read_text() for each in found.attempts] == [ANSWERS, "a", "b"]
    assert found.students == [Student("anna"), Student("ben")]


def test_files_without_a_lesson_s_folder(write):
    given = write(
        {"anna/time_on_the_gpu.py": "", "anna/synchronize_quiz.toml": ANSWERS, "ben/time_on_the_gpu.ipynb": "{}"}
    )
    assert owners(find(given)) == [("anna", QUIZ), ("anna", TIME), ("ben", TIME)]


@pytest.mark.parametrize(
    ("name", "student", "exercise"),
    [
        ("anna_time_on_the_gpu.py", "anna", TIME),
        ("anna-synchronize-time_on_the_gpu.ipynb", "anna", TIME),
        ("time_on_the_gpu_anna.py", "anna", TIME),
        ("synchronize_time_on_the_gpu_anna.py", "anna", TIME),
        ("time_on_the_gpu (anna).py", "anna", TIME),
        ("Anna Muster - Time on the GPU.py", "Anna Muster", TIME),
        ("anna_synchronize_quiz.toml", "anna", QUIZ),
        ("quiz-synchronize-anna.toml", "anna", QUIZ),
        ("anna_time_on_the_gpu (2).py", "anna", TIME),
        ("anna.muster@uni.it_time_on_the_gpu.py", "anna.muster@uni.it", TIME),
        ("time_on_the_gpu_student_1.py", "student_1", TIME),
        ("time_on_the_gpu_101.py", "101", TIME),
    ],
)
def test_flat_files_named_by_student(write, name, student, exercise):
    given = write({name: "", "ben_time_on_the_gpu.py": ""})
    assert assigned(find(given))[name] == (student, exercise)


def test_students_whose_names_end_in_numbers_stay_apart(write):
    given = write({f"student_{i}.zip": zip_of({f"{TIME}.py": ""}) for i in (1, 2, 11)})
    assert owners(find(given)) == [("student_1", TIME), ("student_11", TIME), ("student_2", TIME)]


def test_a_file_named_by_student_alone_is_told_by_what_is_in_it(write):
    given = write(
        {"anna.py": STARTER, "ben.py": "def time_on_the_gpu(work):\n    return 1\n", "quiz ben.toml": ANSWERS}
    )
    assert owners(find(given)) == [("anna", TIME), ("ben", TIME), ("quiz ben", QUIZ)]


def test_what_has_two_exercises_in_it_is_not_guessed(write):
    given = write({"anna.py": STARTER + (EXERCISES / f"{EVENTS}.py").read_text(), "ben.py": "print(1)"})
    found = refused(find(given))
    assert TIME in found["anna.py"]
    assert EVENTS in found["anna.py"]
    assert "can't be told" in found["ben.py"]


def test_a_name_that_fits_two_exercises_is_not_guessed(write):
    given = write({"anna/time_on_the_gpu_time_with_events.py": ""})
    assert "fits" in refused(find(given))["anna/time_on_the_gpu_time_with_events.py"]


def test_a_quiz_isn_t_python_and_an_exercise_isn_t_toml(write):
    given = write({"anna/synchronize/quiz.py": "", "anna/synchronize/time_on_the_gpu.toml": ""})
    assert all("is handed in as" in why for why in refused(find(given)).values())
    assert len(refused(find(given))) == 2


def test_notebooks_of_the_course_say_themselves_what_they_hold(write, tmp_path):
    write_notebooks(["synchronize"], tmp_path / "books", mine=False, seed=0, force=False, as_json=True)
    last = next(
        file
        for file in (tmp_path / "books/synchronize").iterdir()
        if QUIZ in json.loads(file.read_text())["metadata"]["profile_first"]["exercises"]
    )
    given = write({"anna/Untitled.ipynb": last.read_bytes(), "ben/Untitled.ipynb": last.read_bytes()})
    exercises = json.loads(last.read_text())["metadata"]["profile_first"]["exercises"]
    assert len(exercises) == 2
    assert sorted(owners(find(given))) == sorted((who, each) for who in ("anna", "ben") for each in exercises)


@pytest.mark.parametrize("top", ["submissions", "week 3", "export/submissions"])
def test_folders_around_the_class_are_looked_through(write, top):
    given = write({f"{top}/anna/{TIME}.py": "", f"{top}/ben/{TIME}.py": ""})
    assert owners(find(given)) == [("anna", TIME), ("ben", TIME)]


def test_the_only_student_of_a_class_is_found(write):
    assert owners(find(write({f"anna/{TIME}.py": "", f"anna/{EVENTS}.py": ""}))) == [("anna", TIME), ("anna", EVENTS)]


def test_a_student_s_own_folder_can_be_given(write):
    given = write({f"anna/{TIME}.py": "", f"anna/{EVENTS}.py": ""})
    assert owners(find(given / "anna")) == [("anna", TIME), ("anna", EVENTS)]


def test_a_single_file_can_be_given(write):
    given = write({"anna_time_on_the_gpu.py": ""})
    assert owners(find(given / "anna_time_on_the_gpu.py")) == [("anna", TIME)]


def test_a_file_that_nobody_is_named_for_is_not_assigned(write):
    given = write({f"anna/{TIME}.py": "", "ben/time_on_the_gpu.py": "", f"{EVENTS}.py": ""})
    assert "whose it is" in refused(find(given))[f"{EVENTS}.py"]


def test_nothing_at_the_path_is_an_error(tmp_path):
    with pytest.raises(SubmissionNotFound, match="There is no"):
        find(tmp_path / "none")


def test_an_empty_folder_has_nobody(tmp_path):
    assert find(tmp_path) == Found([], [], [], [])


# Archives


def test_a_zip_per_student(write, into):
    given = write({"anna.zip": zip_of({f"{TIME}.py": "a"}), "ben (1).zip": zip_of({f"x/{TIME}.py": "b"})})
    found = find(given, into=into)
    assert owners(found) == [("anna", TIME), ("ben", TIME)]
    assert [each.shown for each in found.attempts] == [f"anna.zip/{TIME}.py", f"ben (1).zip/x/{TIME}.py"]
    assert all(into in Path(each.file).parents for each in found.attempts)


def test_one_zip_of_all(write, into):
    given = write({"class.zip": zip_of({f"anna/{TIME}.py": "", f"ben/{TIME}.py": ""})})
    assert owners(find(given / "class.zip", into=into)) == [("anna", TIME), ("ben", TIME)]


def test_a_zip_of_zips(write, into):
    inner = {"anna.zip": zip_of({f"{TIME}.py": ""}), "ben.zip": zip_of({"work.zip": zip_of({f"{TIME}.py": ""})})}
    given = write({"all.zip": zip_of(inner)})
    found = find(given / "all.zip", into=into)
    assert owners(found) == [("anna", TIME), ("ben", TIME)]
    assert found.attempts[1].shown == f"all.zip/ben.zip/work.zip/{TIME}.py"


def test_a_student_s_zip_can_be_given(write, into):
    given = write({"anna.zip": zip_of({f"{TIME}.py": ""})})
    assert owners(find(given / "anna.zip", into=into)) == [("anna", TIME)]


def test_zips_deeper_than_the_limit_are_listed(write, into):
    data = zip_of({f"{TIME}.py": ""})
    for _ in range(4):
        data = zip_of({"x.zip": data})
    found = find(write({"anna.zip": data}), into=into)
    assert found.attempts == []
    assert "5 archives deep" in refused(found)["anna.zip/x.zip/x.zip/x.zip/x.zip"]


def test_an_archive_that_holds_itself_ends(write, into):
    quine = zip_of({"r/r.zip": zip_of({"r.zip": b"x"})})
    assert find(write({"anna.zip": quine}), into=into).attempts == []


def test_one_hostile_archive_costs_the_others_nothing(write, into):
    given = write(
        {
            "anna.zip": zip_of({f"../../{TIME}.py": "", f"{EVENTS}.py": ""}),
            "ben.zip": b"PK no archive",
            "zoe.zip": zip_of({f"{TIME}.py": b"\0" * 5_000_000}),
            "kim.zip": zip_of({f"{TIME}.py": ""}),
            "lee.zip": zip_of({}),
        }
    )
    found = find(given, into=into)
    assert owners(found) == [("anna", EVENTS), ("kim", TIME)]
    assert {name: why.split(".")[0] for name, why in refused(found).items()} == {
        f"anna.zip/../../{TIME}.py": "its path leads out of the archive (",
        "ben.zip": "the archive isn't opened: it can't be read as a zip archive (File is not a zip file): cut off, "
        "damaged or of another kind",
        f"zoe.zip/{TIME}.py": "it was compressed more than 200 times, as only a trap for unpackers is",
        "lee.zip": "the archive is empty",
    }


def test_who_hands_in_too_much_takes_nothing_from_the_others(write, into):
    much = zip_of({f"{i}.zip": zip_of({f"{i}.{k}.py": f"{k}" * 100 for k in range(10)}) for i in range(10)})
    given = write({"all.zip": zip_of({"anna.zip": much, "ben.zip": zip_of({f"{TIME}.py": ""})})})
    for limits in (Limits(inner_members=25), Limits(inner_bytes=3000)):
        found = find(given / "all.zip", into=into, limits=limits)
        assert owners(found) == [("ben", TIME)]
        refusals = [why for why in refused(found).values() if "taken" in why]
        assert len(refusals) > 5


@pytest.mark.skipif(sys.platform == "win32", reason="paths longer than Windows has them")
def test_folders_that_are_too_deep_are_listed(write):
    given = write({f"anna/{TIME}.py": "", f"ben/.git/{'d/' * 300}x": ""})
    deep = given / "ben"
    for _ in range(300):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "time_on_the_gpu.py").touch()
    found = find(given)
    assert owners(found) == [("anna", TIME)]
    assert sorted(refused(found).values()) == [
        "a repository of Git (1 file), no submission.",
        "it lies 41 folders deep, and 40 are looked into.",
    ]


def test_a_file_made_to_keep_a_search_busy_is_searched_at_once(write):
    """A line of spaces costs a careless regular expression the square of its length."""
    given = write({"anna.py": f"# # x{' ' * 900_000}y", "ben.toml": f"a{' ' * 900_000}b", f"zoe/{TIME}.py": ""})
    began_s = time.process_time()
    assert owners(find(given)) == [("zoe", TIME)]
    assert time.process_time() - began_s < 20  # it would be hours


# What isn't a submission


def test_everything_else_is_listed_with_its_reason(write):
    given = write(
        {
            f"anna/{TIME}.py": "",
            "anna/readme.pdf": "",
            "anna/Makefile": "",
            "anna/work.tar.gz": "",
            "anna/.git/objects/aa/bb": "",
            "anna/.git/HEAD": "",
            "anna/synchronize/.ipynb_checkpoints/time_on_the_gpu-checkpoint.ipynb": "",
            "anna/.DS_Store": "",
            "anna/a.PY": "",
        }
    )
    assert refused(find(given)) == {
        "anna/.DS_Store": "a file of the system, no submission.",
        "anna/.git/": "a repository of Git (2 files), no submission.",
        "anna/Makefile": "files without an ending aren't graded; .py, .ipynb, .toml and .zip are.",
        "anna/a.PY": "its name ends in .PY. Rename it to .py.",
        "anna/readme.pdf": "files of the kind .pdf aren't graded; .py, .ipynb, .toml and .zip are.",
        "anna/synchronize/.ipynb_checkpoints/": (
            "older states of notebooks, as Jupyter keeps them (1 file), no submission."
        ),
        "anna/work.tar.gz": "archives of the kind .gz aren't opened. Unpack it in its place, or ask for a zip archive.",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes as POSIX has them")
def test_links_and_pipes_are_not_followed(write, tmp_path):
    given = write({f"anna/{TIME}.py": "hers", "ben/x/y.py": ""})
    (given / "ben/synchronize").symlink_to(given / "anna/synchronize")
    (given / "ben/time_on_the_gpu.py").symlink_to(given / f"anna/{TIME}.py")
    (given / "ben/gone.py").symlink_to("nowhere")
    (given / "ben/loop").symlink_to(given)
    os.mkfifo(given / "ben/time_with_events.py")
    found = find(given)
    assert owners(found) == [("anna", TIME)]
    assert {name for name, why in refused(found).items() if "link" in why} == {
        "ben/synchronize",
        "ben/time_on_the_gpu.py",
        "ben/gone.py",
        "ben/loop",
    }
    assert "pipe" in refused(found)["ben/time_with_events.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="names as Linux has them")
def test_names_that_can_t_be_shown_are_listed_each_differently(write):
    given = write({f"ben/{TIME}.py": ""})
    for name in (b"\xff", b"\xfe", b"\x1b[2J", b"\\u001b"):
        folder = os.path.join(os.fsencode(given), name)  # noqa: PTH118 - bytes
        os.mkdir(folder)  # noqa: PTH102
        with open(os.path.join(folder, b"time_on_the_gpu.py"), "wb"):  # noqa: PTH118, PTH123
            pass
    found = find(given)
    assert len({*assigned(found), *refused(found)}) == 5
    assert len(found.attempts) == 2
    assert all(each.isprintable() for each in (*assigned(found), *refused(found)))


# With a roster


def test_the_roster_gives_order_names_and_who_is_missing(write):
    given = write({f"Muster Anna/{TIME}.py": "", f"ben.rossi/{TIME}.py": ""})
    found = find(given, CLASS)
    assert owners(found) == [("s2", TIME), ("s1", TIME)]
    assert [student.id for student in found.students] == ["s2", "s1", "s3"]
    assert found.missing == ["s3"]


@pytest.mark.parametrize(
    "name",
    [
        f"section 1/Zoe_Mueller/{TIME}.py",
        f"zoe@uni.it/{TIME}.py",
        f"MÜLLER, ZOË/{TIME}.py",
        "zoe_muller_time_on_the_gpu.py",
        f"S3/old/attempt 2/{TIME}.py",
        f"zoe-muller-hand-in/{TIME}.py",
        f"Zo\u0065\u0308 M\u00fcller (2)/{TIME}.py",
    ],
)
def test_names_are_matched_by_id_address_and_name(write, name):
    given = write({name: "", f"ben rossi/{TIME}.py": ""})
    assert owners(find(given, CLASS)) == [("s2", TIME), ("s3", TIME)]


def test_who_isn_t_on_the_roster_is_not_assigned(write):
    given = write({f"mallory/{TIME}.py": "", f"anna/{TIME}.py": ""})
    found = find(given, CLASS)
    assert refused(found) == {f"mallory/{TIME}.py": "“mallory”: nobody on the roster is called so."}
    assert owners(found) == [("s1", TIME)]


def test_a_name_that_two_have_is_not_assigned_but_listed_with_both(write):
    roster = roster_of([Student("s1", "Anna Muster"), Student("s7", "Muster, Anna"), Student("s2", "Ben")])
    found = find(write({f"anna_muster/{TIME}.py": "", f"s7/{TIME}.py": ""}), roster)
    assert refused(found) == {f"anna_muster/{TIME}.py": "anna_muster may be any of s1, s7 on the roster."}
    assert owners(found) == [("s7", TIME)]


def test_the_outermost_folder_counts_which_a_student_doesn_t_name(write):
    given = write(
        {f"anna/Ben Rossi/{TIME}.py": "", f"anna/Ben_654321_assignsubmission_file_/{EVENTS}.py": "", "s3/x.pdf": ""}
    )
    assert {each.student for each in find(given, CLASS).attempts} == {"s1"}


# The downloads of learning management systems


def test_moodle(write, into):
    files = {
        f"Anna Muster_123456_assignsubmission_file_/{TIME}.py": "",
        "Anna Muster_123456_assignsubmission_file_/quiz_synchronize.toml": ANSWERS,
        "Anna Muster_123456_assignsubmission_onlinetext_/onlinetext.html": "",
        "Ben Rossi_654321_assignsubmission_file_/ben.zip": zip_of({f"work/{TIME}.py": ""}),
        "Zoë Müller_333333_assignsubmission_file_time_on_the_gpu.py": "",
    }
    given = write({"Course-Assignment-4.zip": zip_of(files)})
    found = find(given / "Course-Assignment-4.zip", CLASS, into=into)
    assert owners(found) == [("s2", TIME), ("s1", QUIZ), ("s1", TIME), ("s3", TIME)]
    assert list(refused(found).values()) == ["files of the kind .html aren't graded; .py, .ipynb, .toml and .zip are."]
    alone = find(given, into=into)
    assert alone.students[0] == Student("123456", "Anna Muster", "", "123456")
    assert [each.student for each in alone.attempts] == ["123456", "123456", "333333", "654321"]


def test_moodle_names_two_of_one_name_by_their_numbers(write):
    given = write({f"Anna Muster_{number}_assignsubmission_file_/{TIME}.py": "" for number in (11, 22)})
    assert owners(find(given)) == [("11", TIME), ("22", TIME)]
    roster = roster_of([Student("a", "Anna Muster", lms_id="22"), Student("b", "Anna Muster", lms_id="11")])
    assert owners(find(given, roster)) == [("a", TIME), ("b", TIME)]
    unnumbered = roster_of([Student("a", "Anna Muster"), Student("b", "Anna Muster")])
    assert all("may be any of a, b" in why for why in refused(find(given, unnumbered)).values())


def test_moodle_of_hidden_names_and_of_groups(write):
    given = write(
        {
            f"Participant_123456_assignsubmission_file_/{TIME}.py": "",
            f"Group 2-Ben Rossi_9_assignsubmission_file_/{TIME}.py": "",
        }
    )
    assert owners(find(given, CLASS)) == [("s2", TIME), ("s1", TIME)]


def test_moodle_s_number_and_name_that_disagree_are_not_assigned(write):
    given = write({f"Anna Muster_654321_assignsubmission_file_/{TIME}.py": "", f"s3/{TIME}.py": ""})
    assert "is s2 on the roster" in next(iter(refused(find(given, CLASS)).values()))


def test_canvas(write, into):
    given = write(
        {
            "musteranna_123456_900_time_on_the_gpu.py": "first",
            "musteranna_123456_901_time_on_the_gpu-1.py": "second",
            "rossiben_LATE_654321_902_time_on_the_gpu.py": "",
            "mullerzoe_333333_903_work.zip": zip_of({f"{TIME}.py": "", f"{QUIZ}.toml": ANSWERS}),
        }
    )
    found = find(given, CLASS, into=into)
    assert owners(found) == [("s2", TIME), ("s1", TIME), ("s1", TIME), ("s3", QUIZ), ("s3", TIME)]
    assert [each.marked_late for each in found.attempts] == [True, False, False, False, False]
    assert [(each.number, Path(each.file).read_text()) for each in found.attempts[1:3]] == [(1, "first"), (2, "second")]
    assert {each.handed_in_at_s for each in found.attempts} == {None}
    assert [each.id for each in find(given, into=into).students] == ["123456", "333333", "654321"]


def test_canvas_s_number_counts_where_its_name_is_cut(write):
    given = write({"mustera_123456_900_time_on_the_gpu.py": "", "rossiben_654321_902_time_on_the_gpu.py": ""})
    assert owners(find(given, CLASS)) == [("s2", TIME), ("s1", TIME)]


GRADESCOPE = """\
---
submission_11:
  :submitters:
  - :name: Anna Muster
    :sid: s1
    :email: anna@uni.it
  :created_at: 2026-03-01 10:00:00.123456789 Z
  :score: 0.0
  :history: []
submission_12:
  :submitters:
  - :name: "Zo\\u00eb M\\u00fcller"
    :sid: ''
    :email: zoe@uni.it
  - :name: Ben Rossi
    :sid: s2
    :email: ben.rossi@uni.it
  :created_at: 2026-03-02 12:00:00.000000000 +01:00
submission_13:
  :submitters: []
"""


@pytest.mark.parametrize("top", ["", "assignment_77_export/", "renamed/"])
def test_gradescope(write, top):
    given = write(
        {
            f"{top}submission_metadata.yml": GRADESCOPE,
            f"{top}submission_11/{TIME}.py": "",
            f"{top}submission_12/time_on_the_gpu.py": "",
            f"{top}submission_13/{TIME}.py": "",
        }
    )
    found = find(given, CLASS)
    assert owners(found) == [("s2", TIME), ("s1", TIME), ("s3", TIME)]
    assert [each.handed_in_at_s for each in found.attempts] == [1772449200.0, 1772359200.123456, 1772449200.0]
    assert refused(found) == {f"{top}submission_13/{TIME}.py": "submission_metadata.yml names nobody who handed it in."}
    assert {student.id for student in find(given).students} == {"s1", "s2", "zoe@uni.it"}


def test_a_list_of_gradescope_that_can_t_be_read_is_listed(write):
    given = write({"submission_metadata.yml": "a: [", f"submission_11/{TIME}.py": "", f"submission_12/{TIME}.py": ""})
    assert "YAML" in refused(find(given))["submission_metadata.yml"]


def test_nbgrader(write):
    given = write(
        {
            f"submitted/anna/ps1/{TIME}.py": "",
            "submitted/anna/ps1/timestamp.txt": "2026-03-01 10:00:00.500000 UTC",
            "submitted/ben/ps1/time_on_the_gpu.ipynb": "{}",
        }
    )
    found = find(given / "submitted", CLASS)
    assert owners(found) == [("s1", TIME)]
    assert found.attempts[0].handed_in_at_s == 1772359200.5
    assert owners(find(given)) == [("anna", TIME), ("ben", TIME)]
    assert find(given).not_assigned == []


def test_only_nbgrader_s_own_note_sets_the_clock(write):
    given = write(
        {f"anna/{TIME}.py": "", "anna/synchronize/timestamp.txt": "2020-01-01 10:00:00 UTC", f"ben/{TIME}.py": ""}
    )
    assert all(each.handed_in_at_s and each.handed_in_at_s > 1_700_000_000 for each in find(given).attempts)


# Several attempts


def test_attempts_are_numbered_from_the_oldest(write):
    given = write(
        {f"anna/attempt 1/{TIME}.py": "", f"anna/attempt 2/{TIME}.py": "", "anna/time_on_the_gpu.ipynb": "{}"}
    )
    for name, time_s in ((f"anna/attempt 1/{TIME}.py", 3000), (f"anna/attempt 2/{TIME}.py", 1000)):
        os.utime(given / name, (time_s, time_s))
    os.utime(given / "anna/time_on_the_gpu.ipynb", (2000, 2000))
    found = [(each.number, each.handed_in_at_s, each.shown) for each in find(given).attempts]
    assert found == [
        (1, 1000, f"anna/attempt 2/{TIME}.py"),
        (2, 2000, "anna/time_on_the_gpu.ipynb"),
        (3, 3000, f"anna/attempt 1/{TIME}.py"),
    ]


def test_attempts_of_one_time_are_in_the_order_of_their_numbers(write):
    names = [f"anna/{TIME}.py", "anna/synchronize/time_on_the_gpu (2).py", "anna/synchronize/time_on_the_gpu (10).py"]
    given = write(dict.fromkeys(names, ""))
    for name in names:
        os.utime(given / name, (1000, 1000))
    assert [each.shown for each in find(given).attempts] == names


def test_the_date_of_a_zip_within_the_class_s_zip_counts_more_than_those_in_it(write, into):
    import io
    import zipfile

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(zipfile.ZipInfo("anna.zip", (2026, 3, 1, 12, 0, 0)), zip_of({f"{TIME}.py": ""}))
        archive.writestr(zipfile.ZipInfo("ben.zip", (2026, 3, 2, 12, 0, 0)), zip_of({f"{TIME}.py": ""}))
    given = write({"all.zip": data.getvalue()})
    first, second = (each.handed_in_at_s for each in find(given, into=into).attempts)
    assert first is not None
    assert second is not None
    assert second - first == 24 * 3600


def test_dates_that_are_those_of_the_download_say_nothing(write):
    given = write({f"{name}/{TIME}.py": "" for name in ("anna", "ben", "zoe")})
    assert {each.handed_in_at_s for each in find(given).attempts} == {None}


# What somebody says of themselves


def test_who_hands_in_says_so_where_nothing_else_does(write, into):
    note = json.dumps({"exercises": [TIME], "student": "anna@uni.it", "schema": 1})
    given = write({"hand-in.zip": zip_of({f"{TIME}.py": "", "profile-first.json": note})})
    assert owners(find(given, CLASS, into=into)) == [("s1", TIME)]
    assert owners(find(given, into=into)) == [("anna@uni.it", TIME)]


def test_who_says_to_be_somebody_else_isn_t_believed(write, into):
    note = json.dumps({"exercises": [TIME], "student": "s1", "schema": 1})
    given = write({"ben rossi.zip": zip_of({f"{TIME}.py": "", "profile-first.json": note}), f"s3/{TIME}.py": ""})
    assert owners(find(given, CLASS, into=into)) == [("s2", TIME), ("s3", TIME)]


def test_every_solution_and_quiz_is_found_by_its_path(write):
    files = {f"anna/{file.relative_to(SOLUTIONS)}": file.read_bytes() for file in SOLUTIONS.glob("*/*.py")}
    files |= {f"anna/{file.parent.name}/quiz.toml": ANSWERS for file in EXERCISES.glob("*/quiz.en.toml")}
    assert len(find(write(files)).attempts) == len(files)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_starter_is_told_by_its_content(write, language):
    """Each has a heading, and most a function, that no other has."""
    starters = sorted(EXERCISES.glob("*/*.py"))
    texts = (
        in_language(file.read_text("utf-8"), f"{file.parent.name}/{file.stem}", EXERCISES, language).encode()
        for file in starters
    )
    given = write({f"student{i}.py": text for i, text in enumerate(texts)})
    found = {each.shown: each.exercise for each in find(given).attempts}
    assert found == {f"student{i}.py": f"{file.parent.name}/{file.stem}" for i, file in enumerate(starters)}
