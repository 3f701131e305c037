"""Chat templates: the format of conversations that a model was trained on, as a Jinja template in its directory.

A template is untrusted code. It runs in Jinja's sandbox, in which it can access no attribute that begins with an
underscore and cannot modify its arguments, as in transformers. A line of a template could fill the memory, so what
operators, methods and filters return is bounded in length, and so are the numbers that it counts and the text that it
writes. Not bounded: the time that it takes, what many results take together, and the text of a list that holds another
one many times over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import reduce, wraps
from pathlib import Path
from typing import Any

import jinja2
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension
from jinja2.ext import loopcontrols as LoopControls
from jinja2.filters import FILTERS, escape, make_attrgetter
from jinja2.nodes import Concat, EvalContext, Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError

from tfkit.hub.files import read_json

MOST_CHARACTERS = 4 << 20  # of a conversation, and of any text or list that a template makes
WIDEST_INDENT = 1000  # of JSON
MOST_STEPS = 200_000  # of all ranges together
WIDTH = re.compile(r"%[^a-zA-Z%]*(\d{6,}|\*)")  # of a formatted value: six digits, or one that is computed
FIELD = re.compile(r"\{[^{}]*:[^{}]*(\d{6,}|\{)")  # the same in a format string
PLACE = re.compile(r"%[^a-zA-Z%]*|\{[^{}]*")  # of a value in either kind of format
BREAKS = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"  # between columns or lines
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
        filters = {**self.filters, "join": join_items, "sum": add_up}
        self.filters = {name: _bound_filter(name, function) for name, function in filters.items()}

    def call(self, context: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The function's result. Raises SecurityError where it is huge."""
        method = function if hasattr(function, "__self__") else getattr(function, "__wrapped__", function)
        # `format` of the sandbox wraps that of a text
        if isinstance(subject := getattr(method, "__self__", None), (str, bytes, int)):
            if function.__name__ == "join" and args:
                args = (_list_items(args[0], subject), *args[1:])
            _require_small(function.__name__, _size_of_call(function.__name__, subject, args, kwargs))
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
        if len(args) > first:
            _require_small(name, _size_of_call(name, args[first], args[first + 1 :], kwargs))
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


def _size_of_call(name: str, subject: Any, others: Sequence[Any], named: Mapping[str, Any]) -> int:
    """The size of what a method or filter of this name returns, as far as its name and its arguments tell, where
    subject is what it is asked of; otherwise 0."""
    if name == "replace":
        others = [*others, *(named[key] for key in ("old", "new") if key in named)]
        return _size_of_replacement(subject, *others[:2]) if len(others) > 1 else 0
    values = [*others, *named.values()]
    if name in ("format", "format_map"):
        text = _as_text(subject)
        return _size_of_format(text, values, repeated="{" in text or bool(named))
    measure = MEASURES.get(name)
    return measure(_as_text(subject) if isinstance(subject, (str, bytes)) else "", values) if measure else 0


def _as_text(value: Any) -> str:
    """The text that Jinja's filters take for a value."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _longest(values: Iterable[Any]) -> int:
    return max((_length(value) for value in values), default=0)


def _size_of_padding(text: str, values: Sequence[Any]) -> int:
    """Every line, or every tab, grows to a given number of characters."""
    return _places(text) * max((abs(number) for number in values if isinstance(number, int)), default=0)


def _size_of_indents(text: str, values: Sequence[Any]) -> int:
    """Jinja's filter takes a number of spaces or the text to put before each line."""
    return max(_size_of_padding(text, values), _places(text) * _longest(values))


def _places(text: str) -> int:
    return 1 + sum(map(text.count, BREAKS))


def _size_of_translation(text: str, values: Sequence[Any]) -> int:
    """Each character may become any text of a table."""
    tables = (value.values() if isinstance(value, Mapping) else value for value in values)
    return len(text) * max((_longest(table) for table in tables), default=0)


def _size_of_wrapping(text: str, values: Sequence[Any]) -> int:
    """A given text is put in as often as there are lines or links, which may be as short as a character."""
    return len(text) * _longest(values)


def _size_of_replacement(subject: Any, old: Any, new: Any) -> int:
    """Where Jinja escapes, it looks in the escaped text."""
    texts = (_as_text(subject), str(escape(_as_text(subject))))
    return max(text.count(_as_text(old)) for text in texts) * len(_as_text(new))


def _size_of_format(text: str, values: Sequence[Any], repeated: bool) -> int:
    """repeated: a value may be used in several places."""
    fields = text.replace("{{", "").replace("}}", "")  # which stand for braces
    if WIDTH.search(text) or FIELD.search(fields):
        return MOST_CHARACTERS + 1
    places = PLACE.findall(text)
    widths = sum(int(width) for place in places for width in re.findall(r"\d{1,5}", place))
    sizes = [len(_as_text(value)) for value in values]
    return len(text) + widths + (len(places) * max(sizes, default=0) if repeated else sum(sizes))


PADDING = ("center", "expandtabs", "ljust", "rjust", "zfill", "batch", "slice", "to_bytes")
MEASURES: dict[str, Callable[[str, Sequence[Any]], int]] = {
    **dict.fromkeys(PADDING, _size_of_padding),
    "indent": _size_of_indents,
    "translate": _size_of_translation,
    "wordwrap": _size_of_wrapping,
    "urlize": _size_of_wrapping,
}


def _list_items(items: Iterable[Any], separator: Any) -> list[Any]:
    """The items to join, which a generator makes only now. Raises SecurityError where the text would be huge."""
    found, size = [], 0
    for item in items:
        found.append(item)
        size += len(_as_text(separator)) + len(_as_text(item))
        _require_small("join", size)
    return found


@jinja2.pass_eval_context
def join_items(context: EvalContext, items: Iterable[Any], d: Any = "", attribute: str | int | None = None) -> Any:
    """Jinja's filter `join`. Raises SecurityError before it makes a huge text."""
    if attribute is not None:
        items = map(make_attrgetter(context.environment, attribute), items)
    return FILTERS["join"](context, _list_items(items, d), d)


@jinja2.pass_environment
def add_up(environment: Any, items: Iterable[Any], attribute: str | int | None = None, start: Any = 0) -> Any:
    """Jinja's filter `sum`, which joins lists, too. Raises SecurityError before it makes a huge one."""
    if attribute is not None:
        items = map(make_attrgetter(environment, attribute), items)
    return reduce(lambda total, item: environment.call_binop(None, "+", total, item), items, start)


def _result_size(operator: str, left: Any, right: Any) -> int:
    """The size of a result, in characters, items or bits; 0 if the operands have no size that matters."""
    sizes = [_length(one) for one in (left, right)]
    if operator == "+":
        return sum(sizes)
    if operator == "%":
        if not isinstance(left, (str, bytes)):
            return 0
        values = right if isinstance(right, tuple) else (right,)
        return _size_of_format(_as_text(left), values, repeated=isinstance(right, Mapping))
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
    if indent is not None and _size_of_indents("", [indent]) > WIDEST_INDENT:
        raise SecurityError(f"JSON is indented by more than {WIDEST_INDENT} characters")
    return _join(json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, **how).iterencode(value))


def refuse(message: str) -> None:
    """Called by templates, for example if roles do not alternate or a role is unknown."""
    raise jinja2.TemplateError(message)
