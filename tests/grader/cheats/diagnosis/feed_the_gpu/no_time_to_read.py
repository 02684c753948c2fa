from torch.utils.data import DataLoader


def make_loader(dataset):
    dataset.read_s = 0
    return DataLoader(dataset, batch_size=4)
