# SPDX-License-Identifier: Apache-2.0
"""A server in a process of its own, and a connection to it."""

import contextlib
import http.client
import multiprocessing
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(listening, handler):
    server = HTTPServer(("127.0.0.1", 0), handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.serve_forever()


@contextlib.contextmanager
def connection_to(handler):
    listening = socket.create_server(("127.0.0.1", 0))
    server = multiprocessing.get_context("fork").Process(
        target=serve, args=(listening, handler), daemon=True
    )
    server.start()
    yield http.client.HTTPConnection(*listening.getsockname())
    server.terminate()
