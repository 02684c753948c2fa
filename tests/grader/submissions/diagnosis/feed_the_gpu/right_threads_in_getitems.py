from concurrent.futures import ThreadPoolExecutor

from torch.utils.data import DataLoader, Dataset


class Threaded(Dataset):
    def __init__(self, dataset):
        self.dataset = dataset
        self.pool = ThreadPoolExecutor(8)

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, i):
        return self.dataset[i]

    def __getitems__(self, indices):
        return list(self.pool.map(self.dataset.__getitem__, indices))


def make_loader(dataset):
    return DataLoader(Threaded(dataset), batch_size=4)
