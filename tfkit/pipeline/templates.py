"""Chat templates: the format of conversations that a model was trained on, as a Jinja template in its directory.

A template is untrusted code. It runs in Jinja's sandbox, in which it can access no attribute that begins with an
underscore and cannot modify its arguments, as in transformers. A line of a template could fill the memory, so what
operators, methods and filters return is bounded in length, and so are the numbers that it counts and the text that it
writes. Not bounded: the time that it takes, and the text of a list that holds another one many times over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any

import jinja2
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension
from jinja2.ext import loopcontrols as LoopControls
from jinja2.nodes import Concat, Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError

from tfkit.hub.files import read_json

MOST_CHARACTERS = 4 << 20  # of a conversation, and of any text or list that a template makes
MOST_STEPS = 200_000  # of all ranges together
WIDTH = re.compile(r"%[^a-zA-Z%]*(\d{6,}|\*)")  # of a formatted value: six digits, or one that is computed
FIELD = re.compile(r"\{[^{}]*:[^{}]*(\d{6,}|\{)")  # the same in a format string
PADDING = {"center", "expandtabs", "indent", "ljust", "rjust", "zfill", "batch", "slice"}  # to a length that is given
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


def _join(pieces: Iterable[str]) -> str:
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


class BoundedCodeGenerator(CodeGenerator):
    """Jinja's compiler, which joins texts by the environment's `concat`, and so does not join too much."""

    def visit_Concat(self, node: Concat, frame: Frame) -> None:
        """The code of `a ~ b ~ c`."""
        self.write("concat(str(each) for each in (")
        for operand in node.nodes:
            self.visit(operand, frame)
            self.write(", ")
        self.write("))")


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which operators, methods and filters make nothing huge."""

    intercepted_binops = frozenset(["*", "**", "%", "+"])
    code_generator_class = BoundedCodeGenerator
    concat = staticmethod(_join)

    def __init__(self, **how: Any) -> None:
        super().__init__(optimized=False, **how)  # or it would compute constants, unbounded, when it compiles
        self.filters = {name: _bound_filter(name, function) for name, function in self.filters.items()}

    def call(self, context: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The function's result. Raises SecurityError where it is huge."""
        method = getattr(function, "__wrapped__", function)  # `format` of the sandbox wraps that of a text
        if isinstance(subject := getattr(method, "__self__", None), str):
            _require_small(function.__name__, _size_of_call(function.__name__, [subject, *args, *kwargs.values()]))
        found = super().call(context, function, *args, **kwargs)
        _require_small(getattr(function, "__name__", "a call"), _length(found))
        return found

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """The operator's result. Raises SecurityError where it would be huge."""
        _require_small(operator, _result_size(operator, left, right))
        found = super().call_binop(context, operator, left, right)
        _require_small(operator, _length(found))
        return found


def _bound_filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The same filter. Raises SecurityError where its result is huge."""
    first = 1 if hasattr(function, "jinja_pass_arg") else 0  # which is a context

    @wraps(function)
    def apply(*args: Any, **kwargs: Any) -> Any:
        _require_small(name, _size_of_call(name, [*args[first:], *kwargs.values()]))
        found = function(*args, **kwargs)
        _require_small(name, _length(found))
        return found

    return apply


def _require_small(name: str, size: int) -> None:
    """Raises SecurityError for the size of a huge result."""
    if size > MOST_CHARACTERS:
        raise SecurityError(f"the result of {name} is too large")


def _length(found: Any) -> int:
    """The characters or items of a value; 0 of what has none."""
    return len(found) if isinstance(found, (str, bytes, list, tuple, dict, set)) else 0


def _size_of_call(name: str, args: Sequence[Any]) -> int:
    """The size of what a method or filter of this name returns, as far as its name and its arguments tell, the first of
    which is the text or list that it is asked of; otherwise 0."""
    subject, others = args[0], args[1:]
    text = subject if isinstance(subject, str) else ""
    if name in PADDING:
        places = max(1, text.count("\t"), text.count("\n") + 1)
        return places * max((abs(number) for number in others if isinstance(number, int)), default=0)
    if name in ("format", "format_map"):
        fields = text.replace("{{", "").replace("}}", "")  # which stand for braces
        return MOST_CHARACTERS + 1 if WIDTH.search(text) or FIELD.search(fields) else 0
    if name == "replace" and [type(one) for one in others[:2]] == [str, str]:
        return text.count(others[0]) * len(others[1])
    if name == "join":
        items: Any = next((one for one in args if isinstance(one, (list, tuple))), ())
        separator = max((len(one) for one in args if isinstance(one, str)), default=0)
        return len(items) * separator + sum(map(_length, items))
    return 0


def _result_size(operator: str, left: Any, right: Any) -> int:
    """The size of a result, in characters, items or bits; 0 if the operands have no size that matters."""
    sizes = [_length(one) for one in (left, right)]
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
    made.filters["tojson"] = _bound_filter("tojson", to_json)
    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return made


def to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None, **how: Any) -> str:
    """JSON without the HTML escapes of Jinja's own filter, as templates expect it."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **how)


def refuse(message: str) -> None:
    """Called by templates, for example if roles do not alternate or a role is unknown."""
    raise jinja2.TemplateError(message)
