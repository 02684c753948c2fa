"""Reads TOML on every Python that is supported."""

from __future__ import annotations

import sys
from typing import TypeVar

import msgspec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

T = TypeVar("T")


def read_toml(text: str, shape: type[T]) -> T:
    """The text as this type; raises ValueError with what is wrong and where."""
    try:
        return msgspec.convert(tomllib.loads(text), shape)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(str(error)) from error
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
