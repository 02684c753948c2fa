"""costliest_layer: the layer whose calls of a shared operator took the GPU longest; other measures name another one."""

from __future__ import annotations

from typing import Any

import pytest

from grader.api import Seen, mistake, named, workload
from lab.language import _

UNKNOWN = "unknown"  # the answer of the starter's layer_of for a row without shapes
Layers = list[dict[str, Any]]


@pytest.fixture(scope="module")
def networks(submission) -> list[tuple[Layers, Seen]]:
    """Two networks in which layers of different names, places and sizes are the costliest."""
    first = second = (layers_of(submission, submission.seed), submission.seed)
    for seed in range(submission.seed + 1, submission.seed + 20):
        second = layers_of(submission, seed), seed
        if all(
            one != other for one, other in zip(*(ways_to_guess(layers) for layers, _ in (first, second)), strict=True)
        ):
            break
    return [
        (layers, submission.call("costliest_layer", workload("layers_by_shape", seed=seed)))
        for layers, seed in (first, second)
    ]


def layers_of(submission, seed: int) -> Layers:
    """The layers in the order in which they run, measured in a process without the submission."""
    return submission.expected(workload("layers_by_shape", seed=seed))


def costliest(layers: Layers) -> dict[str, Any]:
    return max(layers, key=lambda layer: layer["gpu_ms"])


def ways_to_guess(layers: Layers) -> tuple[str, int, int]:
    """The costliest layer's name, its place in the order, and its place among the sizes."""
    layer = costliest(layers)
    return layer["name"], layers.index(layer), sum(other["weights"] < layer["weights"] for other in layers)


def check_is_a_layer(layers: Layers, seen: Seen) -> None:
    answer = seen.value
    assert type(answer) is str, _("You returned {answer}. Return the name of a layer.", answer=named(answer))
    names = [layer["name"] for layer in layers]
    if answer in names:
        return
    starts = seen.events("profiler_start")
    if starts:
        assert starts[-1]["record_shapes"], mistake("shapes_not_recorded", answer=answer)
        assert answer != UNKNOWN, mistake("not_grouped_by_shape", answer=answer)
    assert answer in names, _("{answer} isn't one of the layers {list}.", answer=answer, list=", ".join(names))


def check_is_the_costliest(layers: Layers, seen: Seen) -> None:
    check_is_a_layer(layers, seen)
    expected = costliest(layers)
    if seen.value == expected["name"]:
        assert seen.events("workload", phase="forward"), _("The network never ran. Profile network(network.batch).")
        return
    layer = next(layer for layer in layers if layer["name"] == seen.value)
    values = {
        "answer": layer["name"],
        "self_ms": layer["gpu_ms"],
        "expected": expected["name"],
        "expected_ms": expected["gpu_ms"],
    }
    starts = seen.events("profiler_start")
    assert not starts or "CUDA" in starts[-1]["activities"], mistake("gpu_not_recorded", recorded=_("the CPU"))
    assert layer is not max(layers, key=lambda other: other["gpu_ms"] / other["calls"]), mistake(
        "average_for_sum", **values
    )
    assert layer is not max(layers, key=lambda other: other["calls"]), mistake(
        "calls_for_cost", calls=layer["calls"], **values
    )
    assert layer is not max(layers, key=lambda other: other["weights"]), mistake(
        "weights_for_cost", weights=layer["weights"], **values
    )
    assert layer is expected, _(
        "The calls of {name} took {gpu_ms:.0f} ms on the GPU; those of {name2} took {gpu_ms2:.0f} ms.",
        name=layer["name"],
        gpu_ms=layer["gpu_ms"],
        name2=expected["name"],
        gpu_ms2=expected["gpu_ms"],
    )


@pytest.mark.points(1)
def test_names_a_layer(networks):
    """The answer is a layer of the network."""
    for layers, seen in networks:
        check_is_a_layer(layers, seen)


@pytest.mark.points(2)
def test_names_the_costliest_layer(networks):
    """It is the layer whose calls took the GPU longest, in two networks."""
    for layers, seen in networks:
        check_is_the_costliest(layers, seen)
