# SPDX-License-Identifier: Apache-2.0
"""A sample is one frame of a video, for which OpenCV seeks."""

import random, cv2, numpy as np, torch, watched as own
from sets import path
from torch.utils.data import DataLoader, Dataset

cv2.setNumThreads(0)
out = cv2.VideoWriter(path("v.avi"), cv2.VideoWriter_fourcc(*"mp4v"), 25, (320, 240))
for n in range(300):
    out.write(np.random.randint(0, 255, (240, 320, 3), "u1") // 4 + n % 100)
out.release()


class Frames(Dataset):
    video = None

    def __len__(self):
        return 240

    def __getitem__(self, i):
        self.video = self.video or cv2.VideoCapture(path("v.avi"))
        self.video.set(cv2.CAP_PROP_POS_FRAMES, random.randrange(300))
        ok, frame = self.video.read()
        return torch.from_numpy(frame[::4, ::4].copy()).permute(2, 0, 1).float() / 255


body = torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Flatten()
net = torch.nn.Sequential(*body, torch.nn.Linear(16 * 58 * 78, 1))
opt = torch.optim.SGD(net.parameters(), 0.01)
for x in DataLoader(Frames(), 4, num_workers=1):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
