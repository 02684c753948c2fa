from torch.utils.benchmark import Timer


def time_on_the_gpu(work):
    return Timer("work()", globals={"work": work}).timeit(3).median
