from torch.utils.data import DataLoader


def make_loader(dataset):
    return DataLoader(dataset, batch_size=4, num_workers=1, prefetch_factor=4)
