from time import perf_counter


def name_the_bottleneck(train):
    waited = worked = 0.0
    before = perf_counter()
    for images, labels in train.batches():
        waited += perf_counter() - before
        before = perf_counter()
        train.step(images, labels)
        worked += perf_counter() - before
        before = perf_counter()
    return "input" if waited > worked else "compute"
