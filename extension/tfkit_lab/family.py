"""The architectures with their parents, and the modules of one or two of them. A child process imports torch."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

SECONDS = 120.0


class UnknownArchitecture(ValueError):
    """The architecture is unknown or cannot be built; the message says why."""


def models() -> list[dict[str, Any]]:
    """Every architecture: its name, its parent's or None, and what it does differently."""
    from tfkit.family import differs, docstrings, parent

    docs = docstrings()
    kin = {name: parent(doc) for name, doc in docs.items()}
    return [
        {"name": name, "parent": kin[name] if kin[name] in docs else None, "differs": differs(doc)}
        for name, doc in docs.items()
    ]


async def anatomy(names: list[str]) -> dict[str, Any]:
    """The trace that `tfkit_lab.show.anatomy` records of one architecture or two, in a separate process."""
    known = [model["name"] for model in await asyncio.to_thread(models)]
    for name in names:
        if name not in known:
            raise UnknownArchitecture(f"there is no architecture {name!r}")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "tfkit_lab.show", *names,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(process.communicate(), SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        errors = err.decode(errors="replace").strip().splitlines()
        raise UnknownArchitecture(f"{' and '.join(names)}: {errors[-1][:300] if errors else 'cannot be built'}")
    return json.loads(out)
