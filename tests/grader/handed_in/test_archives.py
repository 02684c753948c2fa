"""What is in an archive never decides where it is written, and a trap costs nobody but whoever set it."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import struct
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.submissions.archives import ArchiveRefused, Limits, Member, Opener, OpeningFailed, safe_file_name
from tests.grader.handed_in.conftest import zip_of


def is_wanted(parts: tuple[str, ...]) -> bool:
    return parts[-1].endswith((".py", ".zip"))


def opened(into: Path, data: bytes, limits: Limits | None = None, depth: int = 1) -> list[Member]:
    archive = into.parent / "archive.zip"
    archive.write_bytes(data)
    opener = Opener(into, limits)
    return opener.open(archive, depth, opener.share(depth, None), is_wanted)


def refused(into: Path, data: bytes, limits: Limits | None = None) -> dict[str, str | None]:
    return {"/".join(member.parts): member.refused for member in opened(into, data, limits)}


def with_info(name: str, content: bytes = b"x", **changes: object) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        info = zipfile.ZipInfo(name)
        for key, value in changes.items():
            setattr(info, key, value)
        archive.writestr(info, content)
        archive.writestr("honest.py", b"pass")
    return data.getvalue()


def test_gives_the_wanted_files_and_only_names_the_others(into):
    members = opened(into, zip_of({"a/b.py": "print(1)", "a/picture.png": b"\x89PNG"}))
    found = {member.parts: member.file and member.file.read_bytes() for member in members}
    assert found == {("a", "b.py"): b"print(1)", ("a", "picture.png"): None}
    assert all(member.refused is None for member in members)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../outside.py", "leads out of the archive"),
        ("a/../../outside.py", "leads out of the archive"),
        ("a\\..\\..\\outside.py", "leads out of the archive"),
        ("/etc/outside.py", "root of the disk"),
        ("C:/outside.py", "root of the disk"),
        ("\\\\server\\share\\outside.py", "root of the disk"),
        ("a/\x1b[2Jb.py", "can't be shown"),
        ("a/" + 300 * "b" + ".py", "too long"),
        (600 * "a/" + "b.py", "too long"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused_and_the_rest_taken(into, name, why):
    found = opened(into, with_info(name))
    assert why in str(found[0].refused)
    assert found[0].file is None
    assert found[1].file is not None
    assert not list(into.parent.rglob("outside.py"))


@pytest.mark.parametrize(
    ("mode", "why"),
    [(stat.S_IFLNK, "link"), (stat.S_IFCHR, "device"), (stat.S_IFIFO, "device"), (stat.S_IFSOCK, "device")],
)
def test_links_and_devices_are_refused(into, mode, why):
    data = with_info("a.py", b"/etc/passwd", external_attr=(mode | 0o777) << 16, create_system=3)
    assert why in str(refused(into, data)["a.py"])
    assert refused(into, data)["honest.py"] is None


def test_an_encrypted_file_is_refused(into):
    data = bytearray(with_info("a.py"))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + at] |= 1
    assert "encrypted" in str(refused(into, bytes(data))["a.py"])


def test_a_compression_other_than_the_usual_is_refused(into):
    data = with_info("a.py", 1000 * b"x", compress_type=zipfile.ZIP_LZMA)
    assert "isn't read here" in str(refused(into, data)["a.py"])


def test_both_files_of_one_name_are_refused(into):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.py", "good")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.py", "bad")
        archive.writestr("b.py", "")
    found = opened(into, data.getvalue())
    assert [bool(member.refused) for member in found] == [True, True, False]
    assert "twice" in str(found[0].refused)


@pytest.mark.parametrize("names", [("A.py", "a.py"), ("a.py", "A.py/b.py"), ("L/x.py", "l/X.py")])
def test_names_that_differ_only_in_capital_letters_are_refused(into, names):
    found = opened(into, zip_of(dict.fromkeys(names, "x")))
    assert any("capital letters" in str(member.refused) for member in found)


def test_a_file_that_is_too_large_is_refused_unread(into):
    data = with_info("big.py", 2000 * b"ab1")
    assert "MB" in str(refused(into, data, Limits(member_bytes=5000))["big.py"])


def test_a_bomb_is_refused(into):
    data = zip_of({"bomb.py": b"\0" * 15_000_000, "honest.py": "pass"})
    found = refused(into, data)
    assert "compressed more than" in str(found["bomb.py"])
    assert found["honest.py"] is None


def test_what_claims_to_be_smaller_than_it_is_is_refused(into):
    data = bytearray(zip_of({"liar.py": b"x" * 50_000, "honest.py": "pass"}))
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = struct.pack("<I", 10)
    found = refused(into, bytes(data))
    assert "damaged" in str(found["liar.py"])
    assert found["honest.py"] is None


def test_files_that_share_their_data_are_refused(into):
    data = bytearray(zip_of({"a.py": b"x" * 1000, "b.py": b"x" * 1000}))
    second = data.rindex(b"PK\x01\x02")
    data[second + 42 : second + 46] = struct.pack("<I", 0)
    with pytest.raises(ArchiveRefused, match="overlap"):
        opened(into, bytes(data))


def test_all_files_of_an_archive_together_have_a_limit(into):
    data = zip_of({"a.py": b"a" * 600, "b.py": b"b" * 600})
    found = refused(into, data, Limits(given_bytes=1000))
    assert found["a.py"] is None
    assert "more than is taken out" in str(found["b.py"])


def test_an_archive_in_an_archive_that_was_compressed_much_is_refused(into):
    data = zip_of({"a.zip": b"PK" + b"\0" * 3_000_000})
    assert "compressed more than 20 times" in str(refused(into, data)["a.zip"])


def test_too_many_files_are_refused(into):
    data = zip_of({f"{i}.py": "" for i in range(30)})
    with pytest.raises(ArchiveRefused, match="30 files"):
        opened(into, data, Limits(members=20))


def test_a_list_that_is_too_long_is_refused_before_it_is_read(into):
    data = zip_of({f"{i:0100}.py": "" for i in range(200)})
    with pytest.raises(ArchiveRefused, match="lists more files"):
        opened(into, data, Limits(members=20))


def test_too_deep_an_archive_is_refused(into):
    with pytest.raises(ArchiveRefused, match="deep"):
        opened(into, zip_of({"a.py": ""}), depth=5)


@pytest.mark.parametrize(
    "data",
    [b"", b"no zip at all", zip_of({"a.py": "x" * 500})[:-30], b"Rar!\x1a\x07\x00", b"PK\x05\x06" + 18 * b"\xff"],
    ids=["empty", "text", "cut short", "rar", "an end alone"],
)
def test_what_is_no_sound_zip_is_refused(into, data):
    with pytest.raises(ArchiveRefused, match="can't be read"):
        opened(into, data)


def test_damaged_content_costs_that_file_alone(into):
    data = bytearray(zip_of({"a.py": bytes(range(256)) * 4, "b.py": "pass"}))
    data[60] ^= 0xFF
    found = refused(into, bytes(data))
    assert "damaged" in str(found["a.py"])
    assert found["b.py"] is None
    assert len(list(into.rglob("*.py"))) == 1


@pytest.mark.parametrize(
    ("raw", "name"), [("Jürgen".encode(), "Jürgen"), ("Jürgen".encode("cp437"), "Jürgen"), (b"Anna", "Anna")]
)
def test_names_are_read_as_utf_8_where_they_are_and_else_as_zip_says(into, raw, name):
    data = zip_of({f"{len(raw) * 'X'}.py": ""}).replace(len(raw) * b"X", raw)
    assert opened(into, data)[0].parts == (f"{name}.py",)


def test_the_unicode_name_of_info_zip_counts(into):
    import zlib

    info = zipfile.ZipInfo("J_rgen.py")
    name = "Jürgen.py".encode()
    body = b"\x01" + struct.pack("<I", zlib.crc32(b"J_rgen.py")) + name
    info.extra = struct.pack("<HH", 0x7075, len(body)) + body
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(info, "")
    assert opened(into, data.getvalue())[0].parts == ("Jürgen.py",)


def test_dates_are_read_with_their_time_zone_where_it_is_known(into):
    extra = struct.pack("<HHBi", 0x5455, 5, 1, 1_790_000_000)
    found = opened(into, with_info("a.py", extra=extra))
    assert found[0].dated_s == 1_790_000_000
    assert found[1].dated_s is not None


def test_the_date_of_no_date_is_none(into):
    assert opened(into, with_info("a.py", date_time=(1980, 1, 1, 0, 0, 0)))[0].dated_s is None


@given(name=st.text(max_size=40))
def test_our_own_name_for_a_file_is_a_plain_name(name):
    made = safe_file_name(name)
    assert made
    assert not made.startswith(".")
    assert not set(made) & set('/\\\0:"*?<>|\n')
    assert len(made.encode()) < 255


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(
        st.lists(
            st.sampled_from(["..", ".", "", "a", "B", "b", "C:", "~", "x.py", "\\..\\", "é", "con", "y.PY "]),
            max_size=5,
        )
        .map("/".join)
        .filter(bool),
        unique=True,
        max_size=8,
    )
)
def test_nothing_is_ever_written_outside(tmp_path_factory, names):
    """Every file lies below the folder, which holds nothing but plain files."""
    outer = tmp_path_factory.mktemp("outer")
    (into := outer / "into").mkdir()
    data = zip_of({name: "content" for name in names if not name.endswith("/")})
    members = opened(into, data)
    assert sorted(each.name for each in outer.iterdir()) == ["archive.zip", "into"]
    written = [path for path in into.rglob("*") if not path.is_dir()]
    assert all(path.is_file() and not path.is_symlink() for path in written)
    assert sorted(map(str, written)) == sorted(str(member.file) for member in members if member.file)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_archive_is_refused_or_opened_and_nothing_else(tmp_path_factory, data):
    outer = tmp_path_factory.mktemp("outer")
    (into := outer / "into").mkdir()
    sound = bytearray(zip_of({"a/b.py": "print(1)" * 20, "c.py": b"\0" * 300, "d.zip": zip_of({"e.py": ""})}))
    for _ in range(data.draw(st.integers(1, 6))):
        sound[data.draw(st.integers(0, len(sound) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ArchiveRefused):
        opened(into, bytes(sound))
    assert sorted(each.name for each in outer.iterdir()) == ["archive.zip", "into"]


def test_a_folder_that_holds_an_earlier_opening_can_be_used_again(into):
    first, second = (opened(into, zip_of({"a.py": content}))[0].file for content in ("first", "second"))
    assert first is not None
    assert second is not None
    assert (first.read_text(), second.read_text()) == ("first", "second")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_ours_that_can_t_be_written_is_no_fault_of_the_archive(into):
    into.chmod(0o500)
    with pytest.raises(OpeningFailed, match="Permission"):
        opened(into, zip_of({"a.py": "x"}))


def test_a_full_disk_is_no_fault_of_the_archive(into, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **_: (_ for _ in ()).throw(full))
    with pytest.raises(OpeningFailed, match="No space left"):
        opened(into, zip_of({"a.py": "x"}))


@pytest.mark.skipif(sys.platform == "win32", reason="rights as POSIX has them")
def test_only_its_owner_may_look_into_what_was_opened(into):
    member = opened(into, zip_of({"a.py": "x"}))[0]
    assert member.file is not None
    assert stat.S_IMODE(member.file.parent.stat().st_mode) & 0o077 == 0
