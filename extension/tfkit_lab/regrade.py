"""The route for a student's regrade request: it runs `autograder request`."""

from __future__ import annotations

import asyncio
import json
import sys

from tornado import web

from tfkit_lab.base_handler import BaseHandler

SECONDS = 60.0


class RegradeHandler(BaseHandler):
    """POST: `{"path": …, "question": …, "reason": …}`, the notebook's path below the server's folder."""

    @web.authenticated
    async def post(self) -> None:
        """Send the request into the exchange: 200 with what was sent; 400 with the reason if it cannot be."""
        try:
            body = self.body()
            path, question, reason = (body[key] for key in ("path", "question", "reason"))
            if not all(isinstance(text, str) and text for text in (path, question, reason)):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            return self.respond(400, "the body must be an object with `path`, `question` and `reason`")
        folder = self.folder_of(path)
        if folder is None:
            return self.respond(400, f"there is no notebook {path}")
        notebook = folder / path.rpartition("/")[2]
        command = [sys.executable, "-m", "autograder", "request", "--", str(notebook), question, reason]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command, stdout=pipe, stderr=pipe, stdin=asyncio.subprocess.DEVNULL
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), SECONDS)
        except TimeoutError:
            process.kill()
            return self.respond(400, f"the exchange did not answer within {SECONDS:.0f} s")
        if process.returncode:
            errors = err.decode(errors="replace").strip().splitlines()
            return self.respond(400, (errors[-1] if errors else "it was not sent").removeprefix("autograder: "))
        self.finish(json.dumps({"sent": out.decode(errors="replace").strip()}))
