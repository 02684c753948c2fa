from torch.utils.data import DataLoader


def make_loader(dataset):
    return DataLoader(dataset, batch_size=4, num_workers=4, drop_last=True)
