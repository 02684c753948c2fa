"""What PyTorch's own recipes and tutorials have one type, in our own words, runs unchanged.

Covered: the profiler recipe, the benchmark recipe, the automatic mixed precision recipe and the tutorial on pinned
memory and non_blocking copies.
"""

import timeit

import pytest
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler
from torch.utils import benchmark

pytestmark = pytest.mark.gpu


def small_resnet():
    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.one, self.two = (nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2))
            self.norm_one, self.norm_two = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

        def forward(self, x):
            h = self.norm_one(self.one(x)).relu()
            return (x + self.norm_two(self.two(h))).relu()

    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2), Block(8), Block(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)
    )


def test_the_profiler_recipe(tmp_path):
    model, inputs = small_resnet().cuda(), torch.randn(5, 3, 32, 32).cuda()
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, record_shapes=True) as prof, record_function("model_inference"):
        model(inputs)
    assert "model_inference" in prof.key_averages().table(sort_by="cpu_time_total", row_limit=10)
    assert "[5, 3, 32, 32]" in prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total")
    assert "CUDA" in prof.key_averages().table(sort_by="cuda_time_total", row_limit=10)

    with profile(activities=activities, profile_memory=True, record_shapes=True) as prof:
        model(inputs)
    for key in ("self_cpu_memory_usage", "cpu_memory_usage", "self_cuda_memory_usage", "cuda_memory_usage"):
        assert prof.key_averages().table(sort_by=key, row_limit=10)

    with profile(activities=activities) as prof:
        model(inputs)
    prof.export_chrome_trace(str(tmp_path / "trace.json"))

    with profile(activities=activities, with_stack=True) as prof:
        model(inputs)
    assert prof.key_averages(group_by_stack_n=5).table(sort_by="self_cuda_time_total", row_limit=2)

    outputs = []

    def trace_handler(finished):
        outputs.append(finished.key_averages().table(sort_by="self_cuda_time_total", row_limit=10))
        finished.export_chrome_trace(str(tmp_path / f"trace_{finished.step_num}.json"))

    with profile(
        activities=activities,
        schedule=schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=trace_handler,
    ) as prof:
        for _ in range(10):
            model(inputs)
            prof.step()
    assert len(outputs) == 2
    assert len(list(tmp_path.glob("trace_*.json"))) == 2


def test_a_profiled_training_loop_with_a_handler(tmp_path):
    model = small_resnet().cuda()
    criterion = nn.CrossEntropyLoss().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    model.train()
    prof = profile(
        schedule=schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=tensorboard_trace_handler(str(tmp_path), use_gzip=True),
        record_shapes=True,
        with_stack=True,
    )
    prof.start()
    for _ in range(5):
        prof.step()
        inputs, labels = torch.randn(4, 3, 32, 32).to("cuda"), torch.randint(0, 10, (4,)).to("cuda")
        loss = criterion(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    prof.stop()
    assert list(tmp_path.glob("*.pt.trace.json.gz"))


def test_the_benchmark_recipe():
    def by_mul_sum(a, b):
        return a.mul(b).sum(-1)

    def by_bmm(a, b):
        return torch.bmm(a.reshape(-1, 1, a.shape[-1]), b.reshape(-1, b.shape[-1], 1)).flatten(-3)

    x = torch.randn(1000, 64, device="cuda")
    assert torch.allclose(by_mul_sum(x, x), by_bmm(x, x), rtol=1e-4, atol=1e-4)
    assert timeit.Timer("f(x, x)", globals={"f": by_mul_sum, "x": x}).timeit(5) > 0
    results = []
    for name, function in (("mul/sum", by_mul_sum), ("bmm", by_bmm)):
        timer = benchmark.Timer(
            stmt="f(x, x)",
            globals={"f": function, "x": x},
            label="Batched dot",
            sub_label="1000x64",
            description=name,
            num_threads=1,
        )
        assert timer.timeit(10).median > 0
        results.append(timer.blocked_autorange(min_run_time=0.05))
    table = str(benchmark.Compare(results))
    assert "mul/sum" in table
    assert "bmm" in table


def test_the_mixed_precision_recipe():
    def train(use_amp):
        torch.manual_seed(0)
        layers = [nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)]
        net = nn.Sequential(*layers).cuda()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
        scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
        data = [torch.randn(256, 256, device="cuda") for _ in range(2)]
        loss_fn = nn.MSELoss().cuda()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.synchronize()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for x in data * 3:
            with torch.autocast(device_type="cuda", dtype=torch.float16, enabled=use_amp):
                output = net(x)
                assert output.dtype is (torch.float16 if use_amp else torch.float32)
                loss = loss_fn(output, x)
                assert loss.dtype is torch.float32
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.1)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        end.record()
        torch.cuda.synchronize()
        checkpoint = {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "scaler": scaler.state_dict()}
        net.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scaler.load_state_dict(checkpoint["scaler"])
        return start.elapsed_time(end), torch.cuda.max_memory_allocated()

    plain_ms, _ = train(use_amp=False)
    mixed_ms, _ = train(use_amp=True)
    assert plain_ms > 0
    assert mixed_ms > 0


def test_the_pinned_memory_tutorial():
    tensors = [torch.randn(256, 256) for _ in range(8)]
    pageable = [tensor.to("cuda") for tensor in tensors]
    torch.cuda.synchronize()
    pinned = [tensor.pin_memory().to("cuda", non_blocking=True) for tensor in tensors]
    torch.cuda.synchronize()
    assert all(torch.equal(a, b) for a, b in zip(pageable, pinned, strict=True))
    back = [tensor.to("cpu", non_blocking=True) for tensor in pinned]
    torch.cuda.synchronize()
    assert all(torch.equal(a, b) for a, b in zip(tensors, back, strict=True))
    assert not tensors[0].is_pinned()
    assert tensors[0].pin_memory("cuda").is_pinned()

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        first = tensors[0].pin_memory().to("cuda", non_blocking=True)
    pinned[0] @ pinned[0]
    torch.cuda.current_stream().wait_stream(stream)
    assert torch.equal(first.cpu(), tensors[0])

    event = torch.cuda.Event()
    buffer = torch.empty(256, 256, pin_memory=True)
    buffer.copy_(pinned[1], non_blocking=True)
    event.record()
    event.synchronize()
    assert torch.equal(buffer, tensors[1])
