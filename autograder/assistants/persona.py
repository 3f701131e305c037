"""The tutor as a persona of Jupyter AI 3, for its chat: the entry point `tfkit` of `jupyter_ai.personas`.

Only Jupyter AI imports this module, so none of its packages is a dependency. The persona starts `autograder mcp` for
the folder of the chat, as any other client does: the course's rules, its limits and its log are those of the server.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from jupyter_ai_persona_manager import BasePersona, PersonaDefaults
from mcp import Client, StdioServerParameters

from autograder.assistants.dialogue import Dialogue

AVATAR = Path(__file__).with_name("persona.svg")
Request = tuple[str, dict[str, Any], "asyncio.Future[tuple[bool, Any]]"]


class ServerProcess:
    """`autograder mcp` for one folder, started by the first request and used from one task, as its client requires."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._requests: asyncio.Queue[Request] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def ask(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, Any]:
        """Whether the server refuses, and its sentence or object. Raises RuntimeError if the server has ended."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve())
        answer: asyncio.Future[tuple[bool, Any]] = asyncio.get_running_loop().create_future()
        await self._requests.put((tool, arguments, answer))
        either: list[asyncio.Future[Any]] = [answer, self._task]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            self._requests = asyncio.Queue()
            words = shlex.join(["autograder", "mcp", self._folder])
            raise RuntimeError(
                f"the tutor's server has ended: `{words}` in a terminal says why"
            ) from self._task.exception()
        return answer.result()

    async def close(self) -> None:
        """End the server, with its sandbox."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _serve(self) -> None:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "autograder", "mcp", self._folder], env=dict(os.environ)
        )
        async with Client(command) as client:
            while True:
                tool, arguments, answer = await self._requests.get()
                found = await client.call_tool(tool, arguments)
                text = "\n".join(getattr(part, "text", "") for part in found.content)
                if not answer.cancelled():
                    answer.set_result((bool(found.is_error), text if found.is_error else found.structured_content))


class TutorPersona(BasePersona):
    """Shows exercises, checks code and gives the course's hints; it has no language model and no solutions."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._server: ServerProcess | None = None
        self._dialogue: Dialogue | None = None

    @property
    def defaults(self) -> PersonaDefaults:
        """Its name and picture; the prompt is empty, as there is no model to prompt."""
        return PersonaDefaults(
            name="tfkit",
            description="Shows the course's exercises, checks your code and gives hints, never solutions",
            avatar_path=str(AVATAR),
            system_prompt="",
        )

    async def process_message(self, message: Any) -> None:
        """Answer a message in the chat."""
        if self._dialogue is None:
            self._server = ServerProcess(self.get_chat_dir())
            self._dialogue = Dialogue(self._server.ask)
        self.send_message(await self._dialogue.reply(message.body))

    async def shutdown(self) -> None:
        """End the server that this chat started."""
        if self._server is not None:
            await self._server.close()
        await super().shutdown()
