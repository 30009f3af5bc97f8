# SPDX-License-Identifier: Apache-2.0
"""Another program scores the saved model at the end of each epoch, and the loop waits for it."""

import subprocess
import sys

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

SCORE = "import sys, time; sys.stdin.read(); time.sleep(1.2); print(0.5)"

net = ConvNet(width=16)
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Images(30 * 16), batch_size=16, shuffle=True)
for epoch in own.epochs(3):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
    with own.row("checkpoint"):
        torch.save(net.state_dict(), "model.pt")
    with own.row("scored"):
        command = [sys.executable, "-S", "-c", SCORE]
        done = subprocess.run(command, input=b"model.pt", stdout=subprocess.PIPE, check=True)
        float(done.stdout)
own.rows.pop("scored")
own.show(loose=["evaluation"])
