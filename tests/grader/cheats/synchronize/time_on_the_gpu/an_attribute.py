def time_on_the_gpu(work):
    work()
    return work.gpu_s
