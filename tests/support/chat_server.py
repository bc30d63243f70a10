"""A language model behind an address of OpenAI's form, played on this machine: it errs, stalls, babbles and fails."""

import json
import socket
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from zlib import crc32

import numpy as np


@contextmanager
def chat_server(*, wrong=0.0, failing=0.0, babbling=0.0, stalling=0.0):
    """Its address, and how often each pair of texts was answered, right or wrong; and None, with nonsense.

    Two texts are the same if their second words are. A share of the pairs is answered wrongly, however often it is
    asked; a share of all requests, at random, fails, is answered with nonsense, or is answered only after 3 seconds.
    """
    answered, lock, rng = Counter(), threading.Lock(), np.random.default_rng(1)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = json.loads(body["messages"][-1]["content"])
            pair = tuple(sorted((asked["a"]["text"], asked["b"]["text"])))
            with lock:
                luck = rng.random()
            error = crc32(f"{pair}".encode()) < wrong * 2**32
            if luck < failing:
                return self.reply(500, {"error": "overloaded"})
            if luck < failing + stalling:
                time.sleep(3)
            same = (pair[0].split()[1] == pair[1].split()[1]) != error
            content = f"Sure! ```json\n{json.dumps({'same': same, 'confidence': 0.6 if error else 0.9})}\n```"
            if luck > 1 - babbling:
                pair, content = None, 'Perhaps: {"same": "perhaps", "confidence": 95}'
            with lock:
                answered[pair] += 1
            usage = {"prompt_tokens": 200, "completion_tokens": 20}
            return self.reply(200, {"choices": [{"message": {"content": content}}], "usage": usage})

        def reply(self, status, content):
            content = json.dumps(content).encode()
            with suppress(OSError):  # who asked has given up
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", answered
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)


@contextmanager
def scripted(*replies, trickle=0.0):
    """The address of a server that sends these bytes, the last one again and again; and the requests that it has got.

    With `trickle`, the pause in seconds before each byte.
    """
    requests, listener, ended = [], socket.create_server(("127.0.0.1", 0)), threading.Event()

    def serve():
        while not ended.is_set():
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.settimeout(5)
                request = connection.recv(2**16)
                while request and not request.endswith(b"}"):
                    request += connection.recv(2**16)
                if not request:
                    continue
                requests.append(request)
                reply = replies[min(len(requests), len(replies)) - 1]
                for at in range(0, len(reply), 1 if trickle else max(len(reply), 1)):
                    connection.sendall(reply[at : at + 1] if trickle else reply)
                    if ended.wait(trickle):
                        break

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", requests
    finally:
        ended.set()
        with suppress(OSError):
            socket.create_connection(listener.getsockname(), 5).close()  # so that it waits for nobody
        thread.join(60)
        listener.close()
