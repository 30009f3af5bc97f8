# SPDX-License-Identifier: Apache-2.0
"""Two workers ask a server for each sample, and it takes 15 ms to answer."""

import http.server, multiprocessing, time, urllib.request, numpy as np, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, Dataset


class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.015)
        body = bytes(4096)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
other = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
other.start()
url = "http://127.0.0.1:%d/" % server.server_port


class Remote(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        return np.frombuffer(urllib.request.urlopen(url + str(i)).read(), "f4").copy()


net = mlp(1024, 256, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in DataLoader(Remote(), 8, num_workers=2):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
other.kill()
