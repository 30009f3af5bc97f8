# SPDX-License-Identifier: Apache-2.0
"""An application whose window thread sleeps while another thread trains and reports by a queue."""

import queue
import threading
import time

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

news = queue.Queue()


def train():
    own.main = threading.get_ident()
    net = ConvNet(width=16)
    optimizer = torch.optim.Adam(net.parameters())
    loader = DataLoader(Images(30 * 16, ms=1), batch_size=16, shuffle=True)
    for epoch in own.epochs(2):
        for images, labels in own.batches(loader):
            timed_step(net, optimizer, images, labels)
            news.put(epoch)
    news.put(None)


thread = threading.Thread(target=train)
thread.start()
shown = 0
while True:
    try:
        if news.get(timeout=0.05) is None:
            break
        shown += 1
    except queue.Empty:
        time.sleep(0.01)
thread.join()
own.show()
