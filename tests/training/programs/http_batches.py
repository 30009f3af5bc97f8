# SPDX-License-Identifier: Apache-2.0
"""Batches that the training thread itself asks a server for, by HTTP; no DataLoader."""

import http.client
import multiprocessing
import socket
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import timers as own
import torch
from small import ConvNet


class Batches(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.02)
        body = np.random.default_rng(0).standard_normal((16, 3, 32, 32), dtype=np.float32).tobytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(listening):
    server = HTTPServer(("127.0.0.1", 0), Batches, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.serve_forever()


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0))
    server = multiprocessing.get_context("fork").Process(
        target=serve, args=(listening,), daemon=True
    )
    server.start()
    connection = http.client.HTTPConnection(*listening.getsockname())
    labels = torch.arange(16) % 10
    net = ConvNet()
    optimizer = torch.optim.Adam(net.parameters())
    for number in range(60):
        with own.row("loader_wait"):
            connection.request("GET", f"/{number}")
            body = bytearray(connection.getresponse().read())
        images = torch.frombuffer(body, dtype=torch.float32).view(16, 3, 32, 32)
        with own.row("forward"):
            out = net(images)
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, labels)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    server.terminate()
    own.show(epochs=None)
