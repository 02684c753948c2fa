import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function


@record_function("data")
def to_gpu(images, labels):
    return images.to("cuda"), labels.to("cuda")


@record_function("forward")
def forward(model, images, labels):
    return nn.functional.cross_entropy(model(images), labels)


@record_function("backward")
def backward(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()


@record_function("optimizer")
def update(model, optimizer):
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def train_step(model, optimizer, images, labels, number: int) -> None:
    images, labels = to_gpu(images, labels)
    loss = forward(model, images, labels)
    backward(optimizer, loss)
    update(model, optimizer)

    if number % 100 == 0:
        print(f"step {number}: loss {loss.item():.3f}")


# Nothing to change from here on: it records three warm steps.
def profile_steps(training) -> profile:
    model, optimizer = training.model, training.optimizer
    first, *others = training.batches
    train_step(model, optimizer, *first, number=1)
    torch.cuda.synchronize()
    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=both) as prof:
        for number, batch in enumerate(others, 2):
            train_step(model, optimizer, *batch, number=number)
        torch.cuda.synchronize()
    return prof
