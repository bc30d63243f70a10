"""A language model behind an address of OpenAI's form, played on this machine: it errs, stalls, babbles and fails."""

import json
import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from zlib import crc32

import numpy as np


@contextmanager
def chat_server(truth, *, wrong=0.0, failing=0.0, babbling=0.0, stalling=0.0, stall=1.0, latency=0.0, seed=1):
    """Its address, and how often each pair of texts was answered, right or wrong; and None, with nonsense.

    `truth` says of two texts whether they are the same. A share of the pairs is answered wrongly, however often it is
    asked; a share of all requests, at random, fails, is answered with nonsense, or is answered only after `stall`
    seconds.
    """
    answered, lock, rng = Counter(), threading.Lock(), np.random.default_rng(seed)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = json.loads(body["messages"][-1]["content"])
            pair = tuple(sorted((asked["a"]["text"], asked["b"]["text"])))
            with lock:
                luck = rng.random()
            error = crc32(f"{seed} {pair}".encode()) < wrong * 2**32
            time.sleep(latency)
            if luck < failing:
                return self.reply(500, {"error": "overloaded"})
            if luck < failing + stalling:
                time.sleep(stall)
            same = bool(truth(*pair)) != error
            content = f"Sure! ```json\n{json.dumps({'same': same, 'confidence': 0.6 if error else 0.9})}\n```"
            if luck > 1 - babbling:
                pair, content = None, 'Perhaps: {"same": "perhaps", "confidence": 95}'
            with lock:
                answered[pair] += 1
            usage = {"prompt_tokens": 200, "completion_tokens": 20}
            return self.reply(200, {"choices": [{"message": {"content": content}}], "usage": usage})

        def reply(self, status, content):
            content = json.dumps(content).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:  # who asked has given up
                pass

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
