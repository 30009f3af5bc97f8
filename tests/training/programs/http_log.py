# SPDX-License-Identifier: Apache-2.0
"""Batches in memory; a metric goes to a server by HTTP each step, ahead of forward or backward."""

import http.client
import json
import multiprocessing
import socket
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import timers as own
import torch
from small import ConvNet


class Slow(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.02)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


def serve(listening):
    server = HTTPServer(("127.0.0.1", 0), Slow, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.serve_forever()


def send(connection, number, loss):
    body = json.dumps({"step": number, "loss": loss, "run": "a" * 400})
    connection.request("POST", "/log", body, {"Content-Type": "application/json"})
    connection.getresponse().read()


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0))
    server = multiprocessing.get_context("fork").Process(
        target=serve, args=(listening,), daemon=True
    )
    server.start()
    connection = http.client.HTTPConnection(*listening.getsockname())
    images, labels = torch.randn(640, 3, 32, 32), torch.arange(640) % 10
    net = ConvNet()
    optimizer = torch.optim.Adam(net.parameters())
    last = 0.0
    for number in range(60):
        at = number % 40 * 16
        if number % 2:
            with own.row("own_message"):
                send(connection, number, last)
        with own.row("forward"):
            out = net(images[at : at + 16])
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, labels[at : at + 16])
            last = loss.item()
            if number % 2 == 0:
                with own.row("own_message"):
                    send(connection, number, last)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    server.terminate()
    own.show(epochs=None)
