import asyncio
import time


async def measure(loop):
    batch = loop.load()
    begin = time.perf_counter()
    loss = loop.train(batch)
    end = time.perf_counter()
    loop.log(loss)
    return end - begin


def time_one_batch(loop):
    return asyncio.run(measure(loop))
