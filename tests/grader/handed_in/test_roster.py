"""A roster is read however it was exported, and names one student or says that it can't."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.records import Student
from grader.submissions.roster import Roster, RosterUnreadable, read_roster, roster_of
from grader.submissions.table import TableUnreadable

CLASS = (
    Student("s1", "Anna Muster", "anna.muster@uni.it"),
    Student("s2", "Müller, Jürgen", "jm@uni.it"),
    Student("s3", "José María García López", "jose@uni.it"),
    Student("s4", "Anna Muster-Rossi", "amr@uni.it"),
    Student("s5", "Søren Åberg", "s@uni.it", lms_id="777"),
)


@pytest.fixture
def read(tmp_path: Path):
    def read(text: str | bytes) -> Roster:
        file = tmp_path / "roster.csv"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_roster(file)

    return read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,name,email\ns1,Anna Muster,a@x.it\n", Student("s1", "Anna Muster", "a@x.it")),
        ("name\nAnna Muster\n", Student("Anna Muster", "Anna Muster")),
        ("email\na@x.it\n", Student("a@x.it", "", "a@x.it")),
        (
            "First name,Last name,ID number,Email address,Groups\nAnna,Muster,s1,a@x.it,G1\n",
            Student("s1", "Anna Muster", "a@x.it", "", "G1"),
        ),
        (
            "Vorname;Nachname;ID-Nummer;E-Mail-Adresse\nAnna;Muster;s1;a@x.it\n",
            Student("s1", "Anna Muster", "a@x.it"),
        ),
        ("Nome,Cognome,Matricola\nAnna,Muster,s1\n", Student("s1", "Anna Muster")),
        ("Prénom;Nom;Adresse de courriel\nAnna;Muster;a@x.it\n", Student("a@x.it", "Anna Muster", "a@x.it")),
        (
            "Identifier,Full name,Email address,Status,Grade\nParticipant 123456,Anna Muster,a@x.it,Submitted,\n",
            Student("a@x.it", "Anna Muster", "a@x.it", "123456"),
        ),
        (
            "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
            '"Muster, Anna",4711,s1,amuster,S1\n"Student, Test",99,,abc,S1\n',
            Student("s1", "Muster, Anna", "", "4711", "S1", "amuster"),
        ),
        (
            "First Name,Last Name,SID,Email,Sections\nAnna,Muster,s1,a@x.it,\n",
            Student("s1", "Anna Muster", "a@x.it"),
        ),
        ("identifier,github_username,github_id,name\ns1,anna-m,5,\n", Student("s1", login="anna-m")),
        (
            "id,first_name,last_name,email,lms_user_id\ns1,Anna,Muster,a@x.it,5\n",
            Student("s1", "Anna Muster", "a@x.it", "5"),
        ),
    ],
)
def test_reads_the_columns_of_each_system(read, text, expected):
    assert read(text).students == (expected,)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_reads_the_encodings_that_spreadsheets_write(read, encoding):
    assert read("id;name\r\ns2;Jürgen Müller\r\n".encode(encoding)).students == (Student("s2", "Jürgen Müller"),)


@pytest.mark.parametrize("text", ["sep=;\nid;name\ns1;A, B\n", "id\tname\ns1\tA, B\n", '\n\nid,name\n"s1","A, B"\n\n'])
def test_reads_any_separator(read, text):
    assert read(text).students == (Student("s1", "A, B"),)


def test_keeps_the_order(read):
    assert [each.id for each in read("id\nz\na\nm\n").students] == ["z", "a", "m"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,name\ns1,A\ns2,B\nS1,C\n", "line 4 has the same id as line 2"),
        ("id,email\ns1,a@x\ns2,A@x\n", "line 3 has the same email as line 2"),
        ('id,name\n"s1","A\nB"\ns1,C\n', "line 4 has the same id as line 2"),
        ("name\nAnna\nAnna\n", "line 3 has the same id as line 2"),
        ("id,section\ns1,A\n,B\n", "line 3: nothing says who this is"),
        ("colour,size\nred,2\n", r"no column that says who is on it.*colour,size"),
        ("s1,Anna\ns2,Ben\n", "no column"),
        ("", "no column"),
        ("id,name\n", "no students"),
    ],
)
def test_says_what_is_wrong_and_on_which_line(read, text, message):
    with pytest.raises(RosterUnreadable, match=message):
        read(text)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"id,name\ns1,A\ns2,J\x81rgen\n", "line 3.*UTF-8"),
        ("id,name\ns1,Łukasz Żak\n".encode("cp1250"), "line 2.*UTF-8"),
        (b"PK\x03\x04....", "spreadsheet"),
        (b"id\0name", "isn't text"),
        (b'id,name\n"s1,A\n' + b"x" * 200_000, "line"),
    ],
)
def test_a_file_that_can_t_be_read_right_is_refused(read, data, message):
    with pytest.raises(TableUnreadable, match=message):
        read(data)


def test_a_missing_roster_is_an_error_of_its_own(tmp_path):
    with pytest.raises(TableUnreadable, match="can't be read"):
        read_roster(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s1", ["s1"]),
        ("S1", ["s1"]),
        ("anna.muster@uni.it", ["s1"]),
        ("anna.muster", ["s1"]),
        ("Anna Muster", ["s1"]),
        ("muster_anna", ["s1"]),
        ("Muster, Anna", ["s1"]),
        ("musteranna", ["s1"]),
        ("Jürgen Müller", ["s2"]),
        ("Ju\u0308rgen Mu\u0308ller", ["s2"]),
        ("JURGEN MULLER", ["s2"]),
        ("Juergen Mueller", ["s2"]),
        ("garcia-lopez-jose-maria", ["s3"]),
        ("García López, José María", ["s3"]),
        ("soren aberg", ["s5"]),
        ("777", ["s5"]),
        ("Anna", []),
        ("Muster", []),
        ("Maria García", []),
        ("", []),
        ("…", []),
    ],
)
def test_finds_a_student_by_id_address_or_name_in_any_order_but_never_by_half_of_it(text, expected):
    assert roster_of(CLASS).called(text) == expected


def test_two_of_one_name_are_both_found():
    roster = roster_of([Student("s1", "Anna Muster"), Student("s2", "Muster, Anna")])
    assert roster.called("anna muster") == ["s1", "s2"]


def test_an_id_is_surer_than_a_name():
    roster = roster_of([Student("anna", "Ben"), Student("s2", "Anna")])
    assert roster.called("anna") == ["anna"]


def test_logins_count(read):
    roster = read("identifier,github_username,name\ns1,anna-m,Anna Muster\n")
    assert roster.called("anna-m") == ["s1"]
