"""hungriest_layer: what a layer leaves in memory, not its parameters, its output alone, its peak or its first call."""

import pytest

from grader.api import Seen, mistake, named, workload
from lab.language import _

MIB = 2**20


@pytest.fixture(scope="module")
def models(submission) -> list[tuple[dict, Seen]]:
    """Two models, each with the bytes of its layers in several respects and what the submission made of it."""
    models = []
    for seed in (submission.seed, submission.seed + 1):
        expected = submission.expected(workload("hungry_layers", seed=seed))
        model, inputs = (workload("hungry_layers", seed=seed, part=part) for part in ("model", "inputs"))
        models.append((expected, submission.call("hungriest_layer", model, inputs)))
    return models


def largest(size_bytes: dict[str, int]) -> str:
    return max(size_bytes, key=lambda name: size_bytes[name])


def check_is_a_layer(expected: dict, seen: Seen) -> None:
    assert type(seen.value) is str, _("You returned {value}. Return the name of a layer.", value=named(seen.value))
    of_a_table = seen.value.startswith(("aten::", "cuda", "[memory]"))
    assert not of_a_table, mistake("operator_for_layer", answer=seen.value)
    assert seen.value in expected["kept"], _(
        'No layer has the name "{value}". Return one of the names that model.named_children() gives.',
        value=seen.value[:60],
    )


def check_is_the_hungriest(expected: dict, seen: Seen) -> None:
    check_is_a_layer(expected, seen)
    kept, answer = expected["kept"], seen.value
    right = largest(kept)
    values = {"answer": answer, "kept_mib": kept[answer] / MIB, "right_mib": kept[right] / MIB}
    if answer == right:
        return
    calls, reads = seen.events("workload", phase="layer"), seen.events("memory_read")
    read_reserved = bool(reads) and all("reserved" in event["call"] for event in reads)
    assert not read_reserved, mistake("reserved_for_a_layer", **values)
    assert answer != largest(expected["parameters"]), mistake(
        "parameters_for_activations", parameters_mib=expected["parameters"][answer] / MIB, **values
    )
    without_graph = bool(calls) and not calls[-1]["graph"]
    assert not (answer == largest(expected["output"]) and without_graph), mistake("measured_without_graph", **values)
    assert answer != largest(expected["output"]), mistake("output_for_kept", **values)
    assert answer != largest(expected["peak"]), mistake(
        "temporary_for_kept", peak_mib=expected["peak"][answer] / MIB, **values
    )
    assert answer != largest(expected["first_call"]), mistake(
        "first_call_for_every_call", first_mib=expected["first_call"][answer] / MIB, **values
    )
    assert answer != list(kept)[-1], mistake("running_total_for_increase", **values)
    assert answer == right, _(
        "{answer} leaves {kept_mib:.1f} MiB behind; there is a layer that leaves {right_mib:.1f}.",
        answer=answer,
        kept_mib=values["kept_mib"],
        right_mib=values["right_mib"],
    )


@pytest.mark.points(1)
def test_names_a_layer(models):
    """The answer is the name of a layer."""
    for expected, seen in models:
        check_is_a_layer(expected, seen)


@pytest.mark.points(2)
def test_finds_the_hungriest_layer(models):
    """It is the layer that leaves the most memory behind in a forward pass."""
    check_is_the_hungriest(*models[0])


@pytest.mark.points(2)
def test_finds_it_in_another_model_too(models):
    """The same holds for another model."""
    check_is_the_hungriest(*models[1])
