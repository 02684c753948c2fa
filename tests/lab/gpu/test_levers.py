"""The cures that the lessons teach change the simulated GPU's time and memory as they change a real one's."""

import time

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

import lab.gpu


def on_the_simulated_card():
    if lab.gpu.use().kind == "real":
        pytest.skip("sizes are chosen for the simulated card")


def seconds(work):
    work()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def peak_bytes(work):
    work()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    work()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated()


def stack(width=256, depth=6):
    torch.manual_seed(0)
    return nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(depth)]).to("cuda")


class SlowStorage(Dataset):
    """Each item takes 10 ms to come, once if it is cached."""

    def __init__(self, cached):
        self.cache = {} if cached else None

    def __len__(self):
        return 16

    def __getitem__(self, index):
        if self.cache is not None and index in self.cache:
            return self.cache[index]
        time.sleep(0.01)  # the case itself
        item = torch.randn(256)
        if self.cache is not None:
            self.cache[index] = item
        return item


def second_epoch_s(**options):
    cached = options.pop("cached", False)
    net = stack(depth=2)
    loader = DataLoader(SlowStorage(cached), batch_size=4, **options)

    def epoch():
        for batch in loader:
            net(batch.to("cuda")).sum().item()

    return seconds(epoch)


def test_workers_feed_an_input_bound_loop():
    on_the_simulated_card()
    assert second_epoch_s(num_workers=4, persistent_workers=True) < 0.7 * second_epoch_s()


def test_cached_data_cures_an_input_bound_loop():
    on_the_simulated_card()
    assert second_epoch_s(cached=True) < 0.3 * second_epoch_s()


def test_pinned_copies_are_more_than_twice_as_fast():
    on_the_simulated_card()
    pageable = torch.randn(2**20)
    pinned = pageable.pin_memory()
    assert seconds(lambda: pageable.to("cuda")) > 2 * seconds(lambda: pinned.to("cuda", non_blocking=True))


def test_half_precision_speeds_up_a_compute_bound_step():
    on_the_simulated_card()
    net = stack(512)
    x = torch.randn(256, 512, device="cuda")

    def step(half):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=half):
            loss = net(x).float().sum()
        loss.backward()
        net.zero_grad()

    assert seconds(lambda: step(False)) > 1.5 * seconds(lambda: step(True))


def test_a_larger_batch_spreads_the_cost_of_launching():
    on_the_simulated_card()
    net = stack(width=16, depth=12)

    def per_sample(batch):
        x = torch.randn(batch, 16, device="cuda")
        return seconds(lambda: net(x).sum().backward()) / batch

    assert per_sample(1) > 10 * per_sample(64)


def test_not_reading_the_loss_lets_the_host_run_ahead():
    on_the_simulated_card()
    net = stack()
    x = torch.randn(512, 256, device="cuda")

    def loop(read):
        for _ in range(6):
            time.sleep(0.01)  # the host's own work
            loss = net(x).sum()
            if read:
                loss.item()

    reading, not_reading = seconds(lambda: loop(True)), seconds(lambda: loop(False))
    # Reading, host and GPU take turns; not reading, they overlap, and at best half of the time is won.
    assert 1.2 < reading / not_reading < 2.2


def test_checkpointing_trades_time_for_memory():
    on_the_simulated_card()
    layers = [nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)) for _ in range(6)]
    blocks = nn.ModuleList(layers).to("cuda")
    x = torch.randn(1024, 128, device="cuda")

    def step(use):
        h = x
        for block in blocks:
            h = checkpoint(block, h, use_reentrant=False) if use else block(h)
        h.sum().backward()
        blocks.zero_grad()

    assert peak_bytes(lambda: step(True)) < 0.8 * peak_bytes(lambda: step(False))
    # One more forward pass beside one forward and a backward of twice its work.
    assert 1.15 < seconds(lambda: step(True)) / seconds(lambda: step(False)) < 1.5


def test_accumulation_trains_the_same_batch_in_less_memory():
    on_the_simulated_card()
    net = stack(256, 8)
    x = torch.randn(1024, 256, device="cuda")

    def step(parts):
        for part in x.chunk(parts):
            (net(part).sum() / parts).backward()
        net.zero_grad()

    assert peak_bytes(lambda: step(4)) < 0.7 * peak_bytes(lambda: step(1))
    assert seconds(lambda: step(4)) == pytest.approx(seconds(lambda: step(1)), rel=0.25)


def test_a_smaller_model_computes_for_a_shorter_time():
    on_the_simulated_card()
    x = torch.randn(512, 512, device="cuda")
    wide, narrow = stack(512), stack(256)
    assert seconds(lambda: wide(x)) > 3 * seconds(lambda: narrow(x[:, :256]))
