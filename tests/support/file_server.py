"""A server of files on this machine, which stands for every other one while it runs."""

import os
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

ADDRESS = "127.0.0.1"


@contextmanager
def file_server(files, *, withheld=0):
    """Its address, and the paths that were asked for. It breaks off before the last bytes that are `withheld`.

    Meanwhile nobody in this process finds the address of another machine, or goes through one.
    """
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            if self.path not in files:
                return self.send_error(404)
            content = files[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            return self.wfile.write(content[: len(content) - withheld])

        def log_message(self, *_):
            pass

    find = socket.getaddrinfo

    def only_here(host, *rest, **more):
        if host != ADDRESS:
            raise AssertionError(f"a test asks for {host}")
        return find(host, *rest, **more)

    server = ThreadingHTTPServer((ADDRESS, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        with mock.patch("socket.getaddrinfo", only_here), mock.patch.dict(os.environ, no_proxy="*"):
            yield f"http://{ADDRESS}:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)
