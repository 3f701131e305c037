"""The student's process on macOS and Windows: `python -I -S portable.py SETTINGS_JSON`, a token on standard input.

It uses nothing specific to Linux. It imports torch, connects to the grader's port, sends the token, and answers.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import socket
import sys
from typing import Any


def siblings() -> Any:
    """This folder's `agent`, as a module of a package named `inside`."""
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        "inside", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["inside"] = package
    spec.loader.exec_module(package)
    importlib.import_module("inside.shell")  # with IPython, before the student's time begins
    return importlib.import_module("inside.agent")


def main() -> None:
    """Imports, connects, and answers until the grader closes the connection."""
    settings = json.loads(sys.argv[1])
    token = sys.stdin.buffer.read()
    sys.path.extend(settings["path"])
    sys.dont_write_bytecode = True
    agent = siblings()
    import torch

    torch.set_num_threads(1)
    torch.seed()  # torch starts every process with the same seed; Python and NumPy do not
    os.chdir(settings["folder"])
    channel = socket.create_connection(("127.0.0.1", settings["port"]))
    channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    channel.sendall(token)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    agent.Agent(channel, settings["output_bytes"]).serve()


if __name__ == "__main__":
    main()
