"""A class that hands in, in each of the ways in which it comes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Content = str | bytes
Write = Callable[[Mapping[str, Content]], Path]


def zip_of(files: Mapping[str, Content]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes files below a folder called `given`, and says where that is."""

    def written(files: Mapping[str, Content]) -> Path:
        given = tmp_path / "given"
        given.mkdir()
        for name, content in files.items():
            file = given / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return given

    return written


@pytest.fixture
def into(tmp_path: Path) -> Path:
    """Where archives are opened."""
    folder = tmp_path / "into"
    folder.mkdir()
    return folder
