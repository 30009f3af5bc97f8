# SPDX-License-Identifier: Apache-2.0
"""Bytes and times of sockets against the program's own: HTTP and HTTPS by urllib, and trainers that
stream their batches. The server is this process, which is not recorded."""

import glob
import http.server
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import training

PYTHON = training.interpreter()
PROGRAM = os.path.join(training.HERE, "network_program.py")
# Before each answer. Workers wait longer: a busy machine takes 10 ms to hand a batch over.
ANSWER_S, ANSWER_WORKER_S = 0.020, 0.200
HEADERS_MOST = 400  # bytes of an answer beside its content
CLIENT = """
import ssl, sys, urllib.request
url, most = sys.argv[1], 0
with urllib.request.urlopen(url, context=ssl._create_unverified_context()) as answer:
    while part := answer.read(1 << 20):
        most += len(part)
print(most)
"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        left = int(self.path[1:])
        time.sleep(self.server.answer_s)
        self.send_response(200)
        self.send_header("Content-Length", str(left))
        self.end_headers()
        while left > 0:
            left -= self.wfile.write(bytes(min(left, 1 << 20)))

    def log_message(self, *_arguments):
        pass


class Server:
    def __init__(self, certificate=None, answer_s=ANSWER_S):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.answer_s = answer_s
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.peer = f"127.0.0.1:{self.server.server_port}"
        self.url = f"{'https' if certificate else 'http'}://{self.peer}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.server.shutdown()
        self.server.server_close()


class Network(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.run_path = os.path.join(self.folder, "run.zst")

    def execute(self, *command, **settings):
        done = training.execute(command, self.folder, **settings)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return [int(word) for word in done.stdout.split()]

    def stages(self):
        told = training.report("stages", self.run_path)
        return {row["stage"]: row for row in told["stages"]}, told["run"]

    def peer(self, server):
        files = training.report("files", self.run_path, "--limit=all")["files"]
        return {row["name"]: row for row in files}[f"net:{server.peer}"]

    def download(self, server, content, most):
        got = self.execute(PYTHON, "-c", CLIENT, f"{server.url}/{content}")
        self.assertEqual(got, [content])
        stages, run = self.stages()
        self.assertGreaterEqual(run["received_bytes"], content)
        self.assertLessEqual(run["received_bytes"], most)
        self.assertEqual(stages["net_read"]["bytes"], run["received_bytes"])
        self.assertEqual(stages["net_connect"]["calls"], 1)
        self.assertEqual(self.peer(server)["read_bytes"], run["received_bytes"])
        # No byte of it is a file's.
        self.assertLess(run["read_bytes"], content)
        self.assertLess(run["written_bytes"], 1000000)

    def test_http(self):
        with Server() as server:
            self.download(server, 250000000, 250000000 + HEADERS_MOST)

    def test_https(self):
        """OpenSSL reads and writes the socket: the bytes are those of TLS, some more."""
        pem = os.path.join(self.folder, "certificate.pem")
        make = "openssl req -x509 -nodes -newkey rsa:2048 -subj /CN=localhost -days 2".split()
        try:
            subprocess.run(
                [*make, "-keyout", pem, "-out", pem + ".crt"], check=True, capture_output=True
            )
        except FileNotFoundError:
            self.skipTest("no openssl")
        with open(pem, "a") as both, open(pem + ".crt") as certificate:
            both.write(certificate.read())
        with Server(pem) as server:
            self.download(server, 20000000, 20400000)

    def train(self, mode, server):
        steps, asked_ns, asked_bytes = self.execute(
            PYTHON, PROGRAM, MODE=mode, URL=server.url
        )
        told = training.report("summary", self.run_path)
        self.assertEqual(told["run"]["written_bytes"] < 1000000, True)
        return steps, asked_ns, asked_bytes, told

    def test_loop(self):
        """Without a DataLoader: what the training thread waits for the server is its input."""
        with Server() as server:
            steps, asked_ns, asked_bytes, told = self.train("loop", server)
        self.assertEqual(told["steps"]["count"], steps)
        if training.answers(told):
            self.assertEqual(told["verdict"]["code"], "input-bound")
        self.assertGreaterEqual(told["run"]["received_bytes"], asked_bytes)
        stages, _ = self.stages()
        read_ns = sum(stages[name]["total_ns"] for name in ("net_read", "net_connect"))
        # urllib's own code is the rest.
        self.assertLessEqual(read_ns, asked_ns)
        self.assertGreaterEqual(read_ns, steps * ANSWER_S * 1e9)
        rows = {row["part"]: row["ns"] for row in told["account"]}
        self.assertGreaterEqual(rows["loader_wait"], 0.9 * (steps - 1) / steps * read_ns)
        self.assertLessEqual(rows["loader_wait"], asked_ns)

    def test_workers(self):
        """A DataLoader's workers ask: the time of each is that of its own timer."""
        with Server(answer_s=ANSWER_WORKER_S) as server:
            steps, _, _, told = self.train("workers", server)
        self.assertEqual(told["steps"]["count"], steps)
        if training.answers(told):
            self.assertEqual(told["verdict"]["code"], "input-bound")
            self.assertIn("sockets", " ".join(row["text"] for row in told["advice"]))
        asked = []
        for path in glob.glob(os.path.join(self.folder, "asked-*")):
            with open(path) as file:
                asked.append([int(word) for word in file.read().split()])
        workers = training.report("workers", self.run_path)["workers"]
        net_ns = sum(row["net_read_ns"] for row in workers if row["role"] == "worker")
        self.assertEqual(len(asked), 2)
        self.assertLessEqual(net_ns, sum(ns for ns, _ in asked))
        self.assertGreaterEqual(net_ns, steps * ANSWER_WORKER_S * 1e9)
        self.assertGreaterEqual(told["run"]["received_bytes"], sum(n for _, n in asked))


if __name__ == "__main__":
    unittest.main()
