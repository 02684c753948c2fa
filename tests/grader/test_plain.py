"""What learner code returned becomes plain JSON data that can do nothing and pretend nothing."""

from __future__ import annotations

import enum
import json
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader

from lab.plain import MAX_DEPTH, MAX_ITEMS, plain


class Colour(enum.IntEnum):
    RED = 1


class Words(str):
    pass


@pytest.mark.parametrize(
    "value", [None, True, False, 0, -3, 2**62, 1.5, "", "ä ∑ 🙂", [], [1, [2.0]], {}, {"a": {"b": 1}}]
)
def test_plain_data_stays_what_it_is(value: object) -> None:
    assert plain(value) == value
    assert type(plain(value)) is type(value)


def test_a_tuple_becomes_a_list() -> None:
    assert plain((1, ("a",))) == [1, ["a"]]


@pytest.mark.parametrize(("value", "name"), [(float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "-inf")])
def test_floats_that_json_lacks_are_named(value: float, name: str) -> None:
    assert plain([value]) == [{"$float": name}]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Colour.RED, f"{__name__}.Colour"),
        (Words("a"), f"{__name__}.Words"),
        ({1, 2}, "builtins.set"),
        (b"bytes", "builtins.bytes"),
        (1j, "builtins.complex"),
        ({1: 2}, "builtins.dict"),
        (plain, "builtins.function"),
        (torch.float32, "torch.dtype"),
    ],
)
def test_anything_else_is_only_named(value: object, name: str) -> None:
    assert plain(value) == {"$other": name}


@pytest.mark.parametrize(
    ("kind", "number"),
    [("float64", 1.5), ("float32", 0.5), ("float16", 2.0), ("int64", -7), ("int8", 3), ("uint64", 9), ("bool_", True)],
)
def test_a_numpy_number_is_the_number(kind: str, number: float) -> None:
    numpy = pytest.importorskip("numpy")
    told = plain({"median_s": [getattr(numpy, kind)(number)]})
    assert told == {"median_s": [number]}
    assert type(told["median_s"][0]) is type(number)


def test_a_numpy_number_has_the_limits_of_a_number() -> None:
    numpy = pytest.importorskip("numpy")
    assert plain(numpy.float32("nan")) == {"$float": "nan"}
    assert plain(numpy.uint64(2**64 - 1)) == {"$big_int": 64}


def test_a_class_made_of_a_numpy_number_is_not_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    numpy = pytest.importorskip("numpy")

    class Trap(numpy.float64):
        def item(self) -> object:
            raise SystemExit(0)

    assert plain(Trap(1.0))["$other"].endswith("Trap")
    assert plain(numpy.longdouble(1.0)) == {"$other": "numpy.longdouble"}

    class NoNumber:
        def item(self) -> object:
            return self

    monkeypatch.setattr(numpy, "float64", NoNumber)
    assert plain(NoNumber())["$other"].endswith("NoNumber")


def test_a_learners_own_dollar_key_is_told_apart() -> None:
    assert plain({"$tensor": {"shape": [1]}}) == {"$$tensor": {"shape": [1]}}


def test_an_integer_beyond_64_bits_is_told_by_its_size() -> None:
    assert plain(10**400) == {"$big_int": (10**400).bit_length()}
    assert plain(-(2**63)) == -(2**63)


def test_depth_and_size_are_limited() -> None:
    deep: list[Any] = []
    deep.append(deep)
    text = json.dumps(plain(deep))
    assert text.count("[") == MAX_DEPTH + 1
    assert plain([0] * (MAX_ITEMS + 1)) == {"$too_large": f"{MAX_ITEMS + 1} values"}
    wide = [[[0] * 100] * 100] * 100
    assert len(json.dumps(plain(wide))) < 10 * MAX_ITEMS
    assert plain("x" * 1_000_000) == {"$too_large": "1000000 characters"}


def test_text_that_is_no_unicode_is_still_json() -> None:
    assert plain("\ud800") == "\\ud800"


def test_a_tensor_tells_about_itself() -> None:
    tensor = torch.zeros(2, 3, dtype=torch.float16, requires_grad=True)
    assert plain(tensor) == {
        "$tensor": {"shape": [2, 3], "dtype": "torch.float16", "device": "cpu", "requires_grad": True}
    }


def test_a_tensor_that_lies_about_its_shape_does_no_harm() -> None:
    class Liar(torch.Tensor):
        @property
        def shape(self) -> Any:
            raise ValueError("guess")

    assert plain(torch.zeros(2).as_subclass(Liar)) == {"$tensor": {"error": "ValueError: guess"}}


def test_a_loader_tells_about_itself() -> None:
    loader = DataLoader(list(range(10)), batch_size=5, num_workers=0)  # type: ignore[arg-type]
    assert plain(loader) == {
        "$loader": {
            "num_workers": 0,
            "batch_size": 5,
            "pin_memory": False,
            "persistent_workers": False,
            "prefetch_factor": None,
            "dataset": "list",
        }
    }


def test_a_profile_tells_its_rows() -> None:
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        torch.ones(8, 8) @ torch.ones(8, 8)
    told = plain(profiler)["$profile"]
    assert told["activities"] == ["CPU"]
    assert (told["profile_memory"], told["record_shapes"]) == (True, False)
    rows = {row["key"]: row for row in told["rows"]}
    assert rows["aten::mm"]["count"] == 1
    assert rows["aten::mm"]["is_kernel"] is False
    assert rows["aten::mm"]["cpu_us"] > 0
    assert rows["aten::ones"]["count"] == 2
    json.dumps(told, allow_nan=False)


def test_a_profile_that_was_never_started_says_so() -> None:
    told = plain(profile(activities=[ProfilerActivity.CPU]))["$profile"]
    assert told["rows"] == []
    assert told["error"]
