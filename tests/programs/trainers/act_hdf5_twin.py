# SPDX-License-Identifier: Apache-2.0
"""act_hdf5.py with timers written into it.

python3 act_hdf5_twin.py FOLDER TIMERS.json
"""

import sys

import torch

import act_hdf5 as plain
from timers import Timers

timers = Timers(
    "__getitem__|file open|read qpos|read a camera|read all cameras|decode|read actions|to tensors"
    "|loader wait|validation forward|forward|backward|optimizer step|epoch|validation|training".split(
        "|"
    )
)


def decode(jpeg):
    with timers("decode"):
        return plain_decode(jpeg)


plain_decode, plain.decode = plain.decode, decode


class TimedEpisodes(plain.Episodes):
    def open_episode(self, number):
        with timers("file open"):
            return super().open_episode(number)

    def read_qpos(self, root, start):
        with timers("read qpos"):
            return super().read_qpos(root, start)

    def read_camera(self, root, camera, start):
        with timers("read a camera"):
            return super().read_camera(root, camera, start)

    def read_cameras(self, root, start):
        with timers("read all cameras"):
            return super().read_cameras(root, start)

    def read_actions(self, root, start):
        with timers("read actions"):
            return super().read_actions(root, start)

    def to_tensors(self, images, qpos, actions, length):
        with timers("to tensors"):
            return super().to_tensors(images, qpos, actions, length)

    def __getitem__(self, index):
        with timers("__getitem__"):
            return super().__getitem__(index)


def validate(policy, loader):
    policy.eval()
    with torch.inference_mode():
        for batch in timers.batches(loader, "loader wait"):
            with timers("validation forward"):
                plain.forward_pass(batch, policy)


def train(policy, loader, optimizer):
    policy.train()
    for batch in timers.batches(loader, "loader wait"):
        with timers("forward"):
            loss = plain.forward_pass(batch, policy)
        with timers("backward"):
            loss.backward()
        with timers("optimizer step"):
            optimizer.step()
        optimizer.zero_grad()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    plain.make_episodes(sys.argv[1])
    training, validation = plain.loaders(sys.argv[1], TimedEpisodes)
    policy = plain.Policy()
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
    for _ in range(plain.EPOCHS):
        with timers("epoch"):
            with timers("validation"):
                validate(policy, validation)
            with timers("training"):
                train(policy, training, optimizer)
    timers.write(sys.argv[2])


if __name__ == "__main__":
    main()
