"""However odd a download is: each file is in one attempt's place or in the list of the others, and nowhere else."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.batch.records import Found, Student
from grader.submissions.find import find
from grader.submissions.roster import roster_of
from tests.grader.handed_in.conftest import zip_of

FOLDERS = st.sampled_from(
    [
        *("anna", "Ben Rossi", "submitted", "synchronize", "2_synchronize", "attempt 2", "class", "x"),
        *("Anna Muster_123456_assignsubmission_file_", "submission_11", "zoë", "Zoe\u0308", "..", "a\nb", ".git"),
    ]
)
FILES = st.sampled_from(
    [
        *("time_on_the_gpu.py", "anna_time_on_the_gpu.py", "quiz.toml", "readme.md", "solution.py", "a.ipynb", "A.PY"),
        *("musteranna_123456_900_time_on_the_gpu.py", "rossiben_LATE_654321_901_work.ipynb", "ben.tar.gz", "no ending"),
    ]
)
CONTENT = st.sampled_from(
    ["", "# # Time on the GPU\n", "{}", "\0", '[answers]\nforward_or_copy = "bus"\n', "def train(x): 0"]
)
TREES = st.recursive(
    st.dictionaries(FILES, CONTENT, max_size=4),
    lambda inner: st.dictionaries(FOLDERS | st.sampled_from(["anna.zip", "hand-in (2).zip"]), inner, max_size=4),
    max_leaves=12,
)
ROSTERS = st.sampled_from(
    [None, roster_of([Student("s1", "Anna Muster", lms_id="123456"), Student("s2", "Ben Rossi")])]
)


def files_of(tree: dict) -> dict[str, bytes]:
    """The files of a tree, in which what is called .zip is an archive."""
    files = {}
    for name, inner in tree.items():
        if isinstance(inner, str):
            files[name] = inner.encode()
        elif name.endswith(".zip"):
            files[name] = zip_of(files_of(inner))
        else:
            files |= {f"{name}/{path}": data for path, data in files_of(inner).items()}
    return files


def leaves(tree: dict, above: str = "") -> list[str]:
    """Every file as it is to be shown; of an archive what is in it, and itself where that is nothing."""
    found = []
    for name, inner in tree.items():
        shown = f"{above}{name}".replace("\n", "\\u000a")
        if isinstance(inner, str):
            found.append(shown)
        else:
            below = leaves(inner, f"{shown}/")
            found += below if below or not name.endswith(".zip") else [shown]
    return found


def places(found: Found) -> list[str]:
    return [*{each.shown for each in found.attempts}, *(each.shown for each in found.not_assigned)]


def covers(place: str, leaf: str) -> bool:
    """Whether a line is that of a file, or of a folder or an archive that was refused with all that is in it."""
    return leaf == place or leaf.startswith(place if place.endswith("/") else f"{place}/")


@settings(max_examples=60, deadline=None)
@given(tree=TREES, roster=ROSTERS)
def test_every_file_is_in_exactly_one_place(tmp_path_factory, tree, roster):
    outer = tmp_path_factory.mktemp("outer")
    archive = outer / "all.zip"
    archive.write_bytes(zip_of(files_of(tree)))
    found = find(archive, roster, into=outer / "into")
    expected = [f"all.zip/{leaf}" for leaf in leaves(tree)] or ["all.zip"]
    listed = {place: [leaf for leaf in expected if covers(place, leaf)] for place in places(found)}
    assert len(listed) == len(places(found))
    assert all(listed.values())
    assert sorted(leaf for covered in listed.values() for leaf in covered) == sorted(expected)
    assert {each.student for each in found.attempts} <= {student.id for student in found.students}
    assert sorted(each.name for each in outer.iterdir()) in (["all.zip"], ["all.zip", "into"])
    assert all(Path(each.file).is_file() for each in found.attempts)


@settings(max_examples=40, deadline=None)
@given(tree=TREES.filter(lambda tree: ".." not in str(tree)), roster=ROSTERS)
def test_a_folder_is_found_as_the_archive_of_it(tmp_path_factory, tree, roster):
    outer = tmp_path_factory.mktemp("outer")
    (given := outer / "all").mkdir()
    for name, data in files_of(tree).items():
        (given / name).parent.mkdir(parents=True, exist_ok=True)
        (given / name).write_bytes(data)
    found = find(given, roster, into=outer / "into")
    assert sorted(each for each in places(found) if not each.endswith("/")) == sorted(
        leaf for leaf in leaves(tree) if ".git/" not in leaf
    )
    again = find(given, roster, into=outer / "into")
    assert [(each.student, each.exercise, each.shown, each.number) for each in again.attempts] == [
        (each.student, each.exercise, each.shown, each.number) for each in found.attempts
    ]
    assert again.not_assigned == found.not_assigned
