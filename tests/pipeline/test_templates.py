"""Chat templates: rendered as transformers renders them, and kept in their box."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import transformers as hf
from jinja2.sandbox import ImmutableSandboxedEnvironment

import tfkit
from tfkit.pipeline.templates import render

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "the cat {{ 7 * 7 }} <&>"},
    {"role": "assistant", "content": "sat"},
    {"role": "user", "content": "where?"},
]
TEMPLATES = {
    "chatml": "{% for m in messages %}<s>{{ m['role'] + '\n' + m['content'] }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant\n{% endif %}",
    "tracked": "{{ bos_token }}\n{%- for m in messages %}\n    {%- if m.role == 'assistant' %}\n"
    "{% generation %}{{ m.content }}{{ eos_token }}{% endgeneration %}\n    {%- else %}{{ m | tojson }}"
    "{%- if loop.index > 3 %}{% break %}{% endif %}{% endif %}\n{%- endfor %}",
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_rendered_as_transformers_does(name: str, saved: Callable[[str], Path], tmp_path: Path) -> None:
    shutil.copytree(saved("gpt2"), tmp_path / "m")
    file = tmp_path / "m" / "tokenizer_config.json"
    said = json.loads(file.read_text())
    file.write_text(json.dumps(said | {"chat_template": TEMPLATES[name]}))
    theirs = hf.PreTrainedTokenizerFast.from_pretrained(tmp_path / "m")
    text = tfkit.Text(tmp_path / "m")
    expected = theirs.apply_chat_template(TALK, tokenize=False, add_generation_prompt=True)
    assert text.conversation(TALK) == expected and "where?" in expected
    ids = theirs.apply_chat_template(TALK, add_generation_prompt=True, return_dict=True)["input_ids"]
    assert text.tokenizer.encode([expected], specials=False) == [ids]
    answer = text.chat(TALK, max_new_tokens=5)
    assert answer == "".join(text.chat(TALK, max_new_tokens=5, stream=True))
    (tmp_path / "m" / "chat_template.jinja").write_text("{{ messages[-1]['content'] }}")
    assert tfkit.Text(tmp_path / "m").conversation("the cat") == "the cat"


TRICKS = [
    "{{ messages.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''.__class__ }}{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ self.__init__.__globals__ }}",
    "{{ raise_exception.__globals__['json'] }}",
    "{{ strftime_now.__globals__ }}",
    "{{ messages.append(1) }}",
    "{{ messages[0].update({'content': 'x'}) }}",
    "{{ '{0.__class__}'.format(messages) }}",
    "{{ messages | attr('__class__') }}",
    "{% for i in range(1000000000) %}{% endfor %}",
    "{% include '/etc/passwd' %}",
    "{{ raise_exception('roles must alternate') }}",
    "{% if %}",
]


@pytest.mark.parametrize("trick", TRICKS)
def test_a_template_stays_in_its_box(trick: str) -> None:
    try:
        said = render(trick, [{"role": "user", "content": "hello"}], {})
    except ValueError as error:
        assert str(error).startswith("the chat template: ") and "\n" not in str(error)
    else:  # Jinja gives undefined, which prints as nothing, for an attribute that may not be read
        assert said == ""


def test_what_is_no_message_and_where_there_is_no_template(saved: Callable[[str], Path]) -> None:
    with pytest.raises(TypeError, match="a message is"):
        render("{{ messages }}", [{"role": "user"}], {})
    with pytest.raises(ValueError, match="has no chat template: use generate"):
        tfkit.Text(saved("gpt2")).chat("hello")


PLAIN = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
USER = {"role": "user", "content": "the cat"}


def test_a_list_of_texts_is_a_content_and_other_parts_are_refused() -> None:
    parts = [{"type": "text", "text": "the "}, {"type": "text", "text": "cat"}]
    assert render(PLAIN, [{"role": "user", "content": parts}], {}) == "user: the cat\n"
    for content in ([{"type": "image", "url": "x"}], 7, [7], None.__class__):
        with pytest.raises(TypeError, match="the content of a message is text, or a list of"):
            render(PLAIN, [{"role": "user", "content": content}], {})


def test_roles_that_no_template_knows_and_no_message_are_refused() -> None:
    with pytest.raises(ValueError, match="role 'robot' is not one of system, developer, user, assistant, tool"):
        render(PLAIN, [{"role": "robot", "content": "beep"}], {})
    named = PLAIN + "{% if messages[0]['role'] == 'robot' %}beep{% endif %}"
    assert render(named, [{"role": "robot", "content": "x"}], {}).endswith("beep")
    with pytest.raises(ValueError, match="there is no message"):
        render(PLAIN, [], {})


def test_tools_reach_a_template_that_has_a_place_for_them() -> None:
    tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
    template = "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}" + PLAIN
    assert render(template, [USER], {}, tools=[tool]) == json.dumps(tool) + "user: the cat\n"
    assert render(template, [USER], {}) == "user: the cat\n"
    with pytest.raises(ValueError, match="chat template has no place for tools"):
        render(PLAIN, [USER], {}, tools=[tool])
    with pytest.raises(TypeError, match="a tool is a JSON schema"):
        render(template, [USER], {}, tools=[print])


BOMBS = (
    "{{ 'a' * 2000000000 }}",
    "{{ 2000000000 * 'a' }}",
    "{{ [1] * 2000000000 }}",
    "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}",
    "{{ 9 ** 999999999 }}",
    "{{ '%2000000000d' % 1 }}",
    "{% for a in range(90000) %}{{ 'a' * 1000 }}{% endfor %}",
    "{{ 'a'.ljust(9000000) | length }}",
    "{{ 'a'.zfill(2000000000000) }}",
    "{{ ('\t' * 4000).expandtabs(9000) }}",
    "{{ 'a' | center(9000000) | length }}",
    "{{ 'a\na' | indent(width=2000000000000, first=true) }}",
    "{{ '{:9000000}'.format('a') | length }}",
    "{{ '{:{}}'.format('a', 2000000000000) }}",
    "{{ '{x:9000000}'.format_map({'x': 1}) | length }}",
    "{{ '%9000000d' | format(1) | length }}",
    "{{ ('a' * 4000000).replace('a', 'b' * 4000000) }}",
    "{{ ('a' * 4000000) | replace('a', 'b' * 4000000) }}",
    "{{ ('b' * 4000000).join(['a'] * 4000000) }}",
    "{{ (['a'] * 4000000) | join('b' * 4000000) }}",
    "{% set x = 'a' * 4000000 %}{{ (x ~ x) | length }}",
    "{% set ns = namespace(x='aaaaaaaaaa') %}{% for i in range(30) %}{% set ns.x = ns.x ~ ns.x ~ ns.x %}{% endfor %}",
    "{% set b %}{% for i in range(90000) %}{{ 'a' * 1000 }}{% endfor %}{% endset %}{{ b | length }}",
    "{{ ('%s%s' % ('a' * 4000000, 'a' * 4000000)) | length }}",
    "{{ range(200000) | join('b' * 20000) }}",
    "{{ range(200000) | map('string') | join('b' * 20000) }}",
    "{{ range(200000) | join(d='b' * 20000) }}",
    "{{ ('b' * 20000).join(range(200000) | map('string')) }}",
    "{{ ('a' * 4000000) | join('b' * 1000) }}",
    "{{ ('b' * 1000).join('a' * 4000000) }}",
    "{{ {}.fromkeys(range(200000)) | join('b' * 20000) }}",
    "{{ ([{'t': 'a' * 4000000}] * 400) | join(attribute='t') }}",
    "{{ ('1' * 4000000) | replace(1, 'b' * 1000) }}",
    "{{ ('a' * 4000000) | replace('a' | escape, 'b' * 1000) }}",
    "{{ ('a' * 4000000) | replace(new='b' * 1000, old='a') }}",
    "{{ (('a' * 4000000) | escape).replace('a' | escape, 'b' * 1000) }}",
    "{% autoescape true %}{{ ('<' * 800000) | replace('&' | safe, 'b' * 5000) }}{% endautoescape %}",
    "{{ ('\na' * 1000000) | indent('b' * 4000) }}",
    "{{ ('\na' * 1000000) | indent(width=('b' * 4000) | escape) }}",
    "{{ ('\ra' * 1000000) | indent(4000) }}",
    "{{ ('\na' * 1000000) | wordwrap(79, wrapstring='b' * 1000) }}",
    "{{ ('http://a.b ' * 200000) | urlize(rel='b' * 4000) }}",
    "{{ ('a' * 4000000).translate({97: 'b' * 1000}) }}",
    "{{ ('%s' * 400) % (('a' * 4000000,) * 400) }}",
    "{{ ('%(t)s' * 400) % {'t': 'a' * 4000000} }}",
    "{{ ('%(t)s' * 400) | format(t='a' * 4000000) }}",
    "{{ ('%99999d' * 20000) % ((1,) * 20000) }}",
    "{{ ('{0}' * 400).format('a' * 4000000) }}",
    "{{ ('{0}%' * 400).format('a' * 4000000) }}",
    "{{ ('{0:99999}' * 20000).format(1) }}",
    "{{ 'a'.encode().ljust(2000000000) | length }}",
    "{{ (1).to_bytes(2000000000, 'big') | length }}",
    "{{ [1] | tojson(indent=2000000000) | length }}",
    "{{ (['a' * 4000000] * 400) | tojson | length }}",
    "{{ ([[1] * 4000000] * 40) | sum(start=[]) | length }}",
)


@pytest.mark.parametrize("bomb", BOMBS)
def test_template_memory(bomb: str) -> None:
    """One line took 4 GB, and two ranges in each other did not end."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="the chat template: SecurityError"):
            render(bomb, [{"role": "user", "content": "x"}], {})
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()


def test_ordinary_calls_and_filters_of_templates_work() -> None:
    source = (
        "{{ 'a'.ljust(3) ~ ('b' | center(3)) ~ '{:>3}'.format(7) ~ '%3d' | format(1) }}"
        "{{ '{0}: {1:.2f}{{{2:d}}}'.format('c', 9000000, 9000000) }}"
        "{{ 'xyx'.replace('x', 'zz') ~ ('xyx' | replace('x', 'w')) }}"
        "{{ ', '.join(['p', 'q']) ~ (['r', 's'] | join('-')) }}"
        "{{ 8000000 | string ~ (8000000 | abs) ~ none | default(9000000, true) ~ 'u\nv' | indent(2) }}"
        "{% set b %}{{ [3, 1] | sort | map('string') | join }}{% endset %}{{ b ~ ([1, 2] | batch(3, 0) | list) }}"
    )
    expected = "a   b   7  1c: 9000000.00{9000000}zzyzzwywp, qr-s800000080000009000000u\n  v13[[1, 2, 0]]"
    assert render(source, [{"role": "user", "content": "x"}], {}) == expected


SAME_AS_JINJA = (
    "{{ 'abc' | join('-') }} {{ range(4) | join(0) }} {{ [1, 2] | join(d=', ') }} {{ {'k': 1} | join }}",
    "{{ [{'t': 'a'}, {'t': 'b'}] | join(', ', attribute='t') }} {{ '+'.join('abc') }} {{ nothing | join('x') }}",
    "{% autoescape true %}{{ ['<', '>' | safe] | join('&') }}{{ '<' | replace('<', '>') }}{% endautoescape %}",
    "{{ [1, 2.5] | sum }} {{ [[1], [2]] | sum(start=[]) }} {{ [{'n': 3}] | sum(attribute='n', start=1) }}",
    "{{ 1213 | replace(1, 7) }} {{ 'aba' | replace(new='x', old='a') }} {{ 'a' | replace('a' | escape, '<') }}",
    "{{ 'a\nb' | indent('> ') }} {{ 'a\nb' | indent(width='--', first=true) }} {{ 'a b' | wordwrap(1) }}",
    "{{ '%s and %s' % ('a', 5) }} {{ '%(k)05d' % {'k': 7} }} {{ '{0}{0:>4}{k}'.format('x', k=2) }} {{ '%%' % () }}",
    "{{ 'abc'.translate({97: 'xy'}) }} {{ 'a'.encode().center(3).decode() }} {{ (5).bit_length() }}",
)


@pytest.mark.parametrize("source", SAME_AS_JINJA)
def test_what_is_bounded_gives_what_jinja_gives(source: str) -> None:
    expected = ImmutableSandboxedEnvironment().from_string(source).render()
    assert render(source, [USER], {}) == expected


def test_json_is_what_python_writes() -> None:
    value = [{"type": "object", "é": [1, 2.5, None, True, "\n"]}, {}]
    assert render("{{ x | tojson }}", [USER], {}, x=value) == json.dumps(value, ensure_ascii=False)
    assert render("{{ x | tojson(indent=2) }}", [USER], {}, x=value) == json.dumps(value, ensure_ascii=False, indent=2)
    compact = render("{{ x | tojson(separators=(',', ':'), sort_keys=true) }}", [USER], {}, x=value)
    assert compact == json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def test_ordinary_operators_of_templates_work() -> None:
    source = "{{ '=' * 3 ~ (' %05d' % 7) ~ 2 ** 10 ~ ('a' + 'b') }}{% for n in range(3) %}{{ n }}{% endfor %}"
    assert render(source, [{"role": "user", "content": "x"}], {}) == "=== 000071024ab012"
