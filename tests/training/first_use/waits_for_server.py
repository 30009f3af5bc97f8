# SPDX-License-Identifier: Apache-2.0
"""Each sample is asked of a server that takes 4 ms."""

import http.server
import os
import time
import urllib.request

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.004)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"x" * 256)

    def log_message(self, *_):
        pass


class Remote(Dataset):
    def __init__(self, url):
        self.url = url

    def __len__(self):
        return 800

    def __getitem__(self, i):
        with urllib.request.urlopen(self.url) as answer:
            body = answer.read()
        return torch.frombuffer(bytearray(body), dtype=torch.uint8) / 255.0


def main():
    torch.set_num_threads(1)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    child = os.fork()
    if child == 0:
        server.serve_forever()
    try:
        model = nn.Linear(256, 256)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        data = Remote("http://127.0.0.1:%d/" % server.server_port)
        loader = DataLoader(data, batch_size=8)  # edit
        for x in loader:
            loss = (model(x) - x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
