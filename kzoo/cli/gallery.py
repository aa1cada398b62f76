"""The verb gallery."""

import argparse
import functools
import sys
import tempfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from kzoo.errors import InputError


def gallery_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo gallery`."""
    sub.add_argument("--output", type=Path, metavar="DIR", help="write a folder of static files, and serve nothing")
    sub.add_argument("--port", type=int, default=8000, help="of this machine; 0 takes any (default: 8000)")


def gallery(options: argparse.Namespace) -> None:
    """Writes the gallery, or serves it on this machine until it is interrupted."""
    from kzoo.gallery import write_gallery

    if options.output is not None:
        print(write_gallery(options.output))
        return
    with tempfile.TemporaryDirectory(prefix="kzoo-gallery-") as folder:
        with server(Path(folder), options.port) as serving:
            write_gallery(folder)
            print(f"http://127.0.0.1:{serving.server_port}/", flush=True)
            serving.serve_forever()


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Returns a server of a folder, on this machine only.

    Raises:
        InputError: the port cannot be had.
    """
    try:
        return _Server(("127.0.0.1", port), functools.partial(_Quiet, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise InputError(f"port {port} cannot be served ({error}); --port 0 takes a free one") from error


class _Server(ThreadingHTTPServer):
    """A server that a browser may leave in the middle of a file, as it does when its user goes elsewhere."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files, asks browsers to look whether they changed, and tells nothing of each request."""

    # Some machines' lists of types call JavaScript text/plain, which browsers do not run as a module.
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript", ".json": "application/json"}

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass
