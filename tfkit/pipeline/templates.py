"""Chat templates: how a model was trained to read a conversation, as a Jinja template in its directory.

A template is a program from a stranger. It runs in Jinja's sandbox, in which it reaches no attribute that begins with
an underscore and changes nothing that it is given, as in transformers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from jinja2.ext import Extension
from jinja2.ext import loopcontrols as LoopControls
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

Message = Mapping[str, Any]


class Generation(Extension):
    """`{% generation %} … {% endgeneration %}`, which marks what the assistant says: here it is plain text."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> list[Node]:
        """What stands between the two."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def template(directory: Path) -> str | None:
    """The template that a directory holds, in chat_template.jinja or tokenizer_config.json, or None. Of several, the
    one called "default"."""
    file = directory / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    found = settings(directory).get("chat_template")
    if isinstance(found, list):
        found = {one["name"]: one["template"] for one in found}.get("default")
    return found if isinstance(found, str) else None


def settings(directory: Path) -> dict[str, Any]:
    """What tokenizer_config.json says; {} where there is none. Raises ValueError for a damaged one."""
    from ..hub.files import read_json

    file = directory / "tokenizer_config.json"
    return read_json(file) if file.is_file() else {}


def render(source: str, messages: Sequence[Message], symbols: Mapping[str, str], **more: Any) -> str:
    """The conversation as the model reads it, up to where the assistant begins to speak.

    messages: {"role": "user", "content": "…"} each; symbols: bos_token, eos_token and others by name; more: what else
    the template knows. Raises TypeError for messages that are none, ValueError for what the template refuses or may not
    do.
    """
    for message in messages:
        if not isinstance(message, Mapping) or not {"role", "content"} <= message.keys():
            raise TypeError(f'a message is {{"role": "user", "content": "…"}}; got {message!r}')
    try:
        plain = json.loads(json.dumps([dict(message) for message in messages]))  # no objects, whose methods do things
        given = {"messages": plain, "tools": None, "documents": None}
        return environment().from_string(source).render(**given, add_generation_prompt=True, **symbols, **more)
    except (jinja2.TemplateError, TypeError, KeyError, OverflowError) as error:  # SecurityError is a TemplateError
        raise ValueError(f"the chat template: {type(error).__name__}: {str(error).partition(chr(10))[0]}") from None


def environment() -> ImmutableSandboxedEnvironment:
    """Jinja's sandbox with the functions that published templates count on."""
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, LoopControls])
    made.filters["tojson"] = to_json
    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return made


def to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None, **how: Any) -> str:
    """JSON as templates write it: unlike Jinja's own filter, nothing is escaped for HTML."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **how)


def refuse(message: str) -> None:
    """What a template calls where roles do not alternate, or one is not known to it."""
    raise jinja2.TemplateError(message)
