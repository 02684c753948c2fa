from torch.utils.data import DataLoader


def make_loader(dataset):
    return DataLoader(dataset, batch_size=4, shuffle=False, num_workers=4, prefetch_factor=2)
