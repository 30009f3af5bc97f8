# SPDX-License-Identifier: Apache-2.0
"""Trains a small CNN to distinguish the classes of an image folder: PyTorch, Pillow, DataLoader.

    image_folder.py --data DIR [--epochs N] [--workers N] [--batch-size N] [--seed N]

DIR holds train/CLASS/*.jpg and val/CLASS/*.jpg. The output depends on the arguments alone.
"""

import argparse
import os

import numpy
import torch
from PIL import Image
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

SIDE = 128


class ImageFolder(Dataset):
    def __init__(self, folder, augment):
        self.classes = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        self.augment = augment
        self.samples = [
            (os.path.join(folder, label, name), index)
            for index, label in enumerate(self.classes)
            for name in sorted(os.listdir(os.path.join(folder, label)))
        ]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        path, label = self.samples[index]
        with open(path, "rb") as file:
            image = Image.open(file).convert("RGB")
        return self.transform(image), label

    def transform(self, image):
        """A square of the picture as a normalised tensor; a random one, maybe mirrored, to train
        on."""
        side = min(image.size)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        if self.augment:
            side = int(side * (0.6 + 0.4 * torch.rand(()).item()))
            left = int((image.width - side) * torch.rand(()).item())
            top = int((image.height - side) * torch.rand(()).item())
        image = image.resize(
            (SIDE, SIDE), Image.Resampling.BILINEAR, (left, top, left + side, top + side)
        )
        tensor = torch.from_numpy(numpy.array(image)).permute(2, 0, 1).float().div(255)
        if self.augment and torch.rand(()).item() < 0.5:
            tensor = tensor.flip(2)
        return (tensor - 0.45) / 0.25


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        widths = [3, 24, 48, 96]
        self.blocks = nn.Sequential(
            *(
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in zip(widths, widths[1:])
            )
        )
        self.head = nn.Linear(widths[-1], classes)

    def forward(self, x):
        return self.head(self.blocks(x).mean(dim=(2, 3)))


def train(model, loader, optimizer):
    model.train()
    total = count = 0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
        count += len(labels)
    return count, total / count


@torch.no_grad()
def validate(model, loader):
    model.eval()
    right = count = 0
    for images, labels in loader:
        right += (model(images).argmax(1) == labels).sum().item()
        count += len(labels)
    return count, right / count


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--spawn", action="store_true", help="start workers by spawn, not fork")
    return parser.parse_args()


def main():
    args = parse_arguments()
    torch.manual_seed(args.seed)
    torch.use_deterministic_algorithms(True)
    # One thread, because the workers need the other cores.
    torch.set_num_threads(1)
    context = ("spawn" if args.spawn else "fork") if args.workers else None

    def loader(part, training):
        return DataLoader(
            ImageFolder(os.path.join(args.data, part), augment=training),
            batch_size=args.batch_size,
            shuffle=training,
            num_workers=args.workers,
            multiprocessing_context=context,
        )

    training, validation = loader("train", True), loader("val", False)
    model = Net(len(training.dataset.classes))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(1, args.epochs + 1):
        trained, loss = train(model, training, optimizer)
        validated, accuracy = validate(model, validation)
        print(
            f"epoch {epoch}: trained on {trained} images, loss {loss:.6f}; "
            f"validated on {validated}, accuracy {accuracy:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
