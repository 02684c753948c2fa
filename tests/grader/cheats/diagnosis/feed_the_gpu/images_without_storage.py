import torch
from torch.utils.data import DataLoader


class Images:
    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(self.dataset.seed * 1000 + index)
        image = torch.randint(0, 256, (3, 16, 16), generator=generator).float()
        return image, int(torch.randint(0, 1000, (), generator=generator))


def make_loader(dataset):
    return DataLoader(Images(dataset), batch_size=4)
