from torch.utils.data import DataLoader


def make_loader(dataset):
    return DataLoader(type(dataset)(dataset.seed, read_s=0), batch_size=4)
