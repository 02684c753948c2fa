from concurrent.futures import ThreadPoolExecutor

from torch.utils.data import DataLoader


def make_loader(dataset):
    with ThreadPoolExecutor(8) as readers:
        images = list(readers.map(dataset.__getitem__, range(len(dataset))))
    return DataLoader(images, batch_size=4)
