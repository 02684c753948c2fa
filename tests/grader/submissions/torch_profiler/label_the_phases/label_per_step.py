import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function


def train_step(model, optimizer, images, labels, number: int) -> None:
    with record_function("data"):
        images, labels = images.to("cuda"), labels.to("cuda")

    with record_function(f"forward {number}"):
        scores = model(images)
        loss = nn.functional.cross_entropy(scores, labels)

    with record_function("backward"):
        optimizer.zero_grad()
        loss.backward()

    with record_function("optimizer"):
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

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
