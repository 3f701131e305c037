"""Chat templates: the format of conversations that a model was trained on, as a Jinja template in its directory.

A template is untrusted code. It runs in Jinja's sandbox, in which it can access no attribute that begins with an
underscore and cannot modify its arguments, as in transformers. What it repeats, counts and writes is bounded: a line of
a template would otherwise fill the memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from jinja2.ext import Extension
from jinja2.ext import loopcontrols as LoopControls
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError

from tfkit.hub.files import read_json

MOST_CHARACTERS = 4 << 20  # of a conversation, and of any text or list that a template makes by an operator
MOST_STEPS = 200_000  # of all ranges together
WIDTH = re.compile(r"%[^a-zA-Z%]*(\d{6,}|\*)")  # of a formatted value: six digits, or one that is computed
Message = Mapping[str, Any]
ROLES = ("system", "developer", "user", "assistant", "tool")  # a template may name others


class Generation(Extension):
    """`{% generation %} … {% endgeneration %}`, which marks the assistant's words: here they are plain text."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> list[Node]:
        """The nodes between the two tags."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def template(directory: Path) -> str | None:
    """The template in a directory, from chat_template.jinja or tokenizer_config.json, or None. If there are several,
    the one called "default"."""
    file = directory / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    found = settings(directory).get("chat_template")
    if isinstance(found, list):
        found = {one["name"]: one["template"] for one in found}.get("default")
    return found if isinstance(found, str) else None


def settings(directory: Path) -> dict[str, Any]:
    """The content of tokenizer_config.json; {} if there is none. Raises ValueError for a damaged one."""
    file = directory / "tokenizer_config.json"
    return read_json(file) if file.is_file() else {}


def render(
    source: str, messages: Sequence[Message], symbols: Mapping[str, str], *, tools: Sequence[Any] | None = None,
    **more: Any,
) -> str:  # fmt: skip
    """The conversation in the format that the model reads, up to the point where the assistant's answer begins.

    messages: {"role": "user", "content": "…"} each, the content a text or a list of {"type": "text", "text": "…"};
    symbols: bos_token, eos_token and others by name; tools: JSON schemas of functions that the model may call; more:
    further variables of the template. Raises TypeError for invalid messages or tools, ValueError for no message, a role
    that the template does not know, tools where it has no place for them, or if it refuses them or does something
    forbidden.
    """
    messages = [check_message(message, source) for message in messages]
    if not messages:
        raise ValueError('there is no message: pass [{"role": "user", "content": "…"}]')
    described = _checked_tools(tools, source)
    try:
        # plain data, as the methods of objects could have effects
        plain = json.loads(json.dumps(messages))
        given = {"messages": plain, "tools": described, "documents": None}
        pieces = environment().from_string(source).generate(**given, add_generation_prompt=True, **symbols, **more)
        return _join(pieces)
    except (MemoryError, RecursionError) as error:
        raise ValueError(f"the chat template needs too much memory: {type(error).__name__}") from None
    except (jinja2.TemplateError, TypeError, KeyError, OverflowError) as error:  # SecurityError is a TemplateError
        raise ValueError(f"the chat template: {type(error).__name__}: {str(error).partition(chr(10))[0]}") from None


def _join(pieces: Iterator[str]) -> str:
    """The pieces as one text. Raises SecurityError for a text that is longer than a conversation."""
    found, length = [], 0
    for piece in pieces:
        found.append(piece)
        length += len(piece)
        if length > MOST_CHARACTERS:
            raise SecurityError(f"its text has more than {MOST_CHARACTERS:,} characters")
    return "".join(found)


def check_message(message: Message, source: str) -> dict[str, Any]:
    """A message with its content as one text. Raises TypeError if it is none, ValueError for an unknown role."""
    if not isinstance(message, Mapping) or not {"role", "content"} <= message.keys():
        raise TypeError(f'a message is {{"role": "user", "content": "…"}}; got {message!r}')
    role, content = message["role"], message["content"]
    if role not in ROLES and f"'{role}'" not in source and f'"{role}"' not in source:
        raise ValueError(f"role {role!r} is not one of {', '.join(ROLES)}")
    return {**message, "content": content if content is None else _content_text(content)}


def _content_text(content: Any) -> str:
    """The content of a message as text: a list of parts is joined. Raises TypeError for a part that is no text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, (list, tuple)) else [content]
    for part in parts:
        if not isinstance(part, Mapping) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            expected = 'text, or a list of {"type": "text", "text": "…"}'
            raise TypeError(f"the content of a message is {expected}; got {part!r}")
    return "".join(part["text"] for part in parts)


def _checked_tools(tools: Sequence[Any] | None, source: str) -> list[Any] | None:
    """The tools as plain data; None if there are none."""
    if not tools:
        return None
    if "tools" not in source:
        raise ValueError("this model's chat template has no place for tools: leave tools out")
    for tool in tools:
        if not isinstance(tool, Mapping):
            raise TypeError(f"a tool is a JSON schema, {{'type': 'function', 'function': …}}; got {tool!r}")
    plain: list[Any] = json.loads(json.dumps([dict(tool) for tool in tools]))
    return plain


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which operators make nothing huge."""

    intercepted_binops = frozenset(["*", "**", "%", "+"])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """The operator's result. Raises SecurityError where it would be huge."""
        if _result_size(operator, left, right) > MOST_CHARACTERS:
            raise SecurityError(f"the result of {operator} is too large")
        return super().call_binop(context, operator, left, right)


def _result_size(operator: str, left: Any, right: Any) -> int:
    """The size of a result, in characters, items or bits; 0 if the operands have no size that matters."""
    sizes = [len(one) if isinstance(one, (str, list, tuple)) else 0 for one in (left, right)]
    if operator == "+":
        return sum(sizes)
    if operator == "%":
        return MOST_CHARACTERS + 1 if isinstance(left, str) and WIDTH.search(left) else 0
    numbers = [abs(one) if isinstance(one, int) else 0 for one in (left, right)]
    if operator == "**":
        return numbers[0].bit_length() * numbers[1]
    return max(sizes[0] * numbers[1], sizes[1] * numbers[0])


def _counted_range() -> Callable[..., range]:
    """`range` for one rendering, whose numbers all together are bounded: two ranges in each other make 10^10 steps."""
    left = MOST_STEPS

    def count_up(*bounds: int) -> range:
        """As `range`. Raises SecurityError."""
        nonlocal left
        found = range(*bounds)
        left -= len(found)
        if left < 0:
            raise SecurityError(f"it counts further than {MOST_STEPS:,}")
        return found

    return count_up


def environment() -> ImmutableSandboxedEnvironment:
    """Jinja's sandbox with the functions that published templates use, for one rendering."""
    made = BoundedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, LoopControls])
    made.globals["range"] = _counted_range()
    made.filters["tojson"] = to_json
    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return made


def to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None, **how: Any) -> str:
    """JSON without the HTML escapes of Jinja's own filter, as templates expect it."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **how)


def refuse(message: str) -> None:
    """Called by templates, for example if roles do not alternate or a role is unknown."""
    raise jinja2.TemplateError(message)
