"""The port of a service of the Hub, open and answering before anything is loaded that takes long.

JupyterHub ends, and with it every user's access, if a service that it has started ends or has not answered after 30
seconds. Nothing but Tornado is imported here.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPMessageDelegate, HTTPServerConnectionDelegate
from tornado.web import Application, RequestHandler

STARTING = "The grading service is starting.\n"


class PortError(Exception):
    """The service's port cannot be opened; the message is one line with the port and the reason."""


class StartingHandler(RequestHandler):
    """What each address of the service answers while it starts: 200, which is what the Hub waits for."""

    def get(self) -> None:
        """Say that the service is starting."""
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(STARTING)


class _Switch(HTTPServerConnectionDelegate):
    """Passes requests to an application, which can be replaced while the server runs."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def start_request(self, server_conn: object, request_conn: Any) -> HTTPMessageDelegate:
        return self.application.start_request(server_conn, request_conn)

    def on_close(self, server_conn: object) -> None:
        self.application.on_close(server_conn)


class ServicePort:
    """An open port, served by a daemon thread; `show` replaces the answer that the service is starting.

    prefix: the path below which the Hub's proxy shows the service. Raises PortError if the address cannot be used.
    """

    def __init__(self, url: str, prefix: str) -> None:
        self.prefix = prefix
        self._switch = _Switch(Application([(f"{prefix}.*", StartingHandler)]))
        self._opened, self._error = threading.Event(), ""
        threading.Thread(target=lambda: asyncio.run(self._serve(url)), daemon=True, name="port").start()
        self._opened.wait()
        if self._error:
            raise PortError(self._error)

    def show(self, application: Application) -> None:
        """Answer with `application` from now on."""
        self._switch.application = application

    async def _serve(self, url: str) -> None:
        try:
            where = urlsplit(url)
            port, host = where.port or 80, where.hostname or "127.0.0.1"
            HTTPServer(self._switch).listen(port, host)
        except OSError as error:
            self._error = (f"port {port} of {host}, the service's address, cannot be opened ({error.strerror}): stop "
                           "the program that uses it, or give the service another `url`")  # fmt: skip
            return
        except ValueError as error:  # of a port that is no number, or a host that no name server could have
            self._error = f"{url} is no address of a service ({error}): give the service another `url`"
            return
        finally:
            self._opened.set()
        await asyncio.Event().wait()


def open_for_hub(environment: Mapping[str, str] = os.environ) -> ServicePort | None:
    """The port of a service of the Hub, whose name the Hub tells its services; None for any other process.

    A user's server and its terminals have $JUPYTERHUB_SERVICE_URL as well, but that is the server's own address.
    Raises PortError.
    """
    if not all(environment.get(name) for name in ("JUPYTERHUB_SERVICE_NAME", "JUPYTERHUB_SERVICE_URL")):
        return None
    return ServicePort(environment["JUPYTERHUB_SERVICE_URL"], environment.get("JUPYTERHUB_SERVICE_PREFIX", "/"))
