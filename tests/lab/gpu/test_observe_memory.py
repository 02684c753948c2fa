"""What was alive at a run's peak, and the table of its last profiler session, as the lab writes them down."""

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

import lab.gpu
from lab import observe
from lab.observe import profilers

pytestmark = pytest.mark.gpu
KIB = 2**10


@pytest.fixture
def simulated():
    if lab.gpu.use().kind == "real":
        pytest.skip("what is alive is seen on the simulated GPU only")


def summary(act, what):
    observe.start()
    act()
    return next((event for event in observe.finish() if event["what"] == what), None)


def by_role(event):
    roles = {}
    for row in event["rows"]:
        roles[row["role"]] = roles.get(row["role"], 0) + row["bytes"]
    return roles


@pytest.mark.usefixtures("simulated")
def test_what_was_alive_at_the_peak_adds_up_to_it():
    def act():
        torch.cuda.reset_peak_memory_stats()
        kept = torch.zeros(256, 1024, device="cuda")
        for _ in range(3):
            (kept * 2 + 1).sum().item()
        del kept
        torch.zeros(4, device="cuda")

    event = summary(act, "alive_at_peak")
    assert event["peak_bytes"] == torch.cuda.max_memory_allocated()
    assert sum(row["bytes"] for row in event["rows"]) == event["peak_bytes"]
    assert {(row["op"], tuple(row["shape"]), row["dtype"]) for row in event["rows"]} >= {
        ("aten::zeros", (256, 1024), "float32"),
        ("aten::mul", (256, 1024), "float32"),
    }


@pytest.mark.usefixtures("simulated")
def test_parameters_gradients_states_activations_and_inputs_are_told_apart():
    batch = torch.randn(64, 512)

    def act():
        model = torch.nn.Sequential(torch.nn.Linear(512, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128)).cuda()
        optimizer = torch.optim.Adam(model.parameters(), foreach=False)
        for _ in range(2):
            model(batch.cuda()).sum().backward()
            optimizer.step()

    roles = by_role(summary(act, "alive_at_peak"))
    weights = 4 * (512 * 256 + 256 + 256 * 128 + 128)
    assert roles["parameter"] == pytest.approx(weights, rel=0.01)
    assert roles["gradient"] == pytest.approx(weights, rel=0.01)
    assert roles["optimizer_state"] == pytest.approx(2 * weights, rel=0.01)


@pytest.mark.usefixtures("simulated")
def test_a_model_that_is_made_on_the_gpu_has_parameters_and_buffers_without_an_optimizer():
    def act():
        model = torch.nn.Sequential(torch.nn.Linear(256, 256, device="cuda"), torch.nn.BatchNorm1d(256, device="cuda"))
        model(torch.randn(512, 256).cuda())

    roles = by_role(summary(act, "alive_at_peak"))
    assert roles["parameter"] >= 256 * 256 * 4
    assert roles["buffer"] >= 2 * 256 * 4
    assert roles["input"] == 512 * 256 * 4
    assert roles["activation"] >= 512 * 256 * 4


@pytest.mark.usefixtures("simulated")
def test_the_label_in_which_something_was_made_is_told():
    def act():
        with torch.profiler.record_function("my attention"):
            kept = torch.ones(128, 1024, device="cuda") * 2
        kept.sum().item()

    rows = summary(act, "alive_at_peak")["rows"]
    assert ("aten::mul", "my attention") in {(row["op"], row["label"]) for row in rows}


@pytest.mark.usefixtures("simulated")
def test_however_many_kinds_of_tensors_there_are_the_event_stays_small():
    def act():
        kept = [torch.ones(size, device="cuda") for size in range(1, 400)]
        torch.cuda.synchronize()
        kept.clear()

    event = summary(act, "alive_at_peak")
    assert len(event["rows"]) <= 70
    assert sum(row["bytes"] for row in event["rows"]) == event["peak_bytes"]
    assert sum(row["count"] for row in event["rows"]) >= 399


@pytest.mark.usefixtures("simulated")
def test_marking_takes_none_of_the_learners_time():
    model = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(50))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=False, foreach=True)
    model(torch.ones(1, 4, device="cuda")).sum().backward()
    from lab.gpu.device import clock
    from lab.observe import roles

    left_out_s = clock.left_out_s
    roles.before_a_step(optimizer, (), {})
    assert clock.left_out_s > left_out_s


# The profiler's table


def test_the_last_session_is_told_as_a_table_in_microseconds(tmp_path):
    a = torch.randn(64, 64, device="cuda")

    def act():
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
            for _ in range(3):
                a @ a
            torch.cuda.synchronize()
        prof.export_chrome_trace(str(tmp_path / "trace.json"))  # PyTorch renames over what is there: never /dev/null

    event = summary(act, "key_averages")
    rows = {row["name"]: row for row in event["rows"]}
    assert rows["aten::mm"]["calls"] == 3
    assert rows["aten::mm"]["device_us"] > 0
    assert rows["aten::mm"]["cpu_us"] >= rows["aten::mm"]["self_cpu_us"] > 0
    assert event["with_device"]
    assert event["rows_in_all"] == len(event["rows"])


def test_where_nothing_was_profiled_there_is_no_table_and_one_run_is_not_told_in_the_next():
    a = torch.randn(8, 8)

    def act():
        with profile(activities=[ProfilerActivity.CPU]):
            a @ a

    assert summary(act, "key_averages") is not None
    assert summary(lambda: a @ a, "key_averages") is None


def test_a_session_with_very_many_events_is_not_read_unless_the_program_did(monkeypatch):
    monkeypatch.setattr(profilers, "PARSED_FOR_IT", 5)
    a = torch.randn(8, 8)

    def act(reads):
        with profile(activities=[ProfilerActivity.CPU]) as prof:
            for _ in range(20):
                a @ a
        if reads:
            prof.key_averages()

    assert summary(lambda: act(False), "key_averages")["rows"] == []
    assert summary(lambda: act(True), "key_averages")["rows"]


def test_a_profiler_that_is_still_running_has_no_table_and_does_no_harm():
    prof = profile(activities=[ProfilerActivity.CPU])
    prof.start()
    try:
        assert summary(lambda: torch.ones(2) + 1, "key_averages") is None
    finally:
        prof.stop()
