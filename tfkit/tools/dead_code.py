"""Dead-code elimination: definitions, stores, attributes and statements whose value nothing uses."""

from __future__ import annotations

import ast
import re
from collections import Counter

from .ast_queries import (
    ROOTS,
    Function,
    blocks,
    count_attribute_reads,
    count_references,
    effective_statements,
    functions,
    in_annotation,
    is_arithmetic,
    is_simple,
    is_super_call,
    names_defined_by,
    names_in,
)
from .purity import is_pure, pure_functions
from .rewrite import Source

CONFIG_NAME = re.compile(r"(^|\.)(c|config|self|cfg)$")  # names under which a configuration is read


def remove_unused_definitions(source: Source) -> str:
    """Removes the functions, classes and constants that nothing refers to, and unused imports."""
    found = count_references(source)
    for statement in source.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                name = alias.asname or alias.name.partition(".")[0]
                if not found[name] and getattr(statement, "module", "") != "__future__":
                    source.remove(statement)
            continue
        own = names_defined_by(statement)
        if own and not set(own) & ROOTS:
            inside = names_in(statement) if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else Counter(own)
            twice = sum(own[0] in names_defined_by(each) for each in source.tree.body) > 1
            if (
                all(found[name] <= inside[name] for name in own)
                and not twice
                or twice
                and all(
                    own[0] in names_defined_by(n)
                    for n in source.tree.body
                    if own[0] in names_in(n) | names_in(n, ast.Store)
                )
            ):
                source.remove(statement)
    return source.apply()


def remove_pure_statements(source: Source) -> str:
    """Removes calls of pure functions whose value is not used, and empty loops and tests."""
    pure = pure_functions(source)
    for node in source.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = getattr(node.value.func, "id", getattr(node.value.func, "attr", ""))
            if name in pure and is_pure(source, node):
                source.remove(node)
        elif isinstance(node, (ast.For, ast.If)) and is_empty(node) and is_pure(source, node):
            source.remove(node)
    return source.apply()


def is_empty(node: ast.For | ast.If) -> bool:
    """Whether the blocks of a loop or of a test do nothing."""
    return not effective_statements(node.body) and not node.orelse


def remove_dead_stores(source: Source) -> str:
    """Removes assignments of local names that nothing reads, and of a name to itself."""
    for function in functions(source):
        reads = names_in(function)
        for node in ast.walk(function):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and (isinstance(node, ast.AnnAssign) or len(node.targets) == 1):
                same = isinstance(node.value, ast.Name) and node.value.id == target.id
                unread = not reads[target.id] or is_overwritten(source, node, target.id)
                if same or (unread and is_pure(source, node.value)):
                    source.remove(node)
            elif isinstance(target, ast.Tuple):
                names = [each.value if isinstance(each, ast.Starred) else each for each in target.elts]
                unread = all(isinstance(each, ast.Name) and not reads[each.id] for each in names)
                if source.text(target) == source.text(node.value) or (unread and is_pure(source, node.value)):
                    source.remove(node)
    return source.apply()


def is_overwritten(source: Source, node: ast.stmt, name: str) -> bool:
    """Whether the next statement writes to the name that this one writes to, without reading it."""
    block = next((b for b in blocks(source.parent[node]) if node in b), [])
    after = block[block.index(node) + 1 :][:1]
    return any(isinstance(n, ast.Assign) and names_in(n, ast.Store)[name] and not names_in(n)[name] for n in after)


def remove_dead_attributes(source: Source) -> str:
    """Removes attributes of instances and classes that nothing reads; modules and parameters stay."""
    loaded = count_attribute_reads(source)
    for node in source.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 or isinstance(node, ast.AnnAssign) and node.value:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            value = node.value
            is_free = is_simple(value) or is_arithmetic(value) or isinstance(value, (ast.Dict, ast.Tuple, ast.List))  # type: ignore[arg-type]
            is_free = is_free or source.text(value).startswith("nn.Dropout(")  # type: ignore[arg-type]
            if isinstance(target, ast.Attribute) and is_simple(target) and not loaded[target.attr] and is_free:
                source.remove(node)
        elif isinstance(node, ast.ClassDef):
            remove_dead_fields(source, node, loaded)
    return source.apply()


def remove_dead_fields(source: Source, node: ast.ClassDef, loaded: Counter[str]) -> None:
    """Removes class attributes that nothing reads, and such fields of Config."""
    is_data = bool(node.decorator_list) or "NamedTuple" in "".join(map(source.text, node.bases))
    if node.name == "Config":
        attributes = (n for n in source.nodes if isinstance(n, ast.Attribute))
        of_config = [n for n in attributes if CONFIG_NAME.search(source.text(n.value))]
        texts = Counter(n.value for n in source.nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
        loaded = Counter(n.attr for n in of_config) + texts
    for each in node.body:
        own = names_defined_by(each) if isinstance(each, (ast.Assign, ast.AnnAssign)) else []
        used = any(loaded[n] or sum(names_in(s)[n] for s in node.body) for n in own)
        field = isinstance(each, ast.AnnAssign) and "ClassVar" not in source.text(each.annotation)
        if own and not used and (node.name == "Config" or not (field and is_data)):
            source.remove(each)
        empty = isinstance(each, Function) and each.name == "__post_init__" and not effective_statements(each.body)
        if empty and not any(is_super_call(n, "__post_init__") for n in source.nodes):
            source.remove(each)


def erase_uninstantiated_classes(source: Source) -> str:
    """Replaces classes that are never instantiated in annotations: by the rest of a union, or by Any."""
    classes = {n.name for n in source.tree.body if isinstance(n, ast.ClassDef)} - ROOTS
    mentions = [n for n in source.nodes if isinstance(n, ast.Name) and n.id in classes]
    used = {n.id for n in mentions if not in_annotation(source, n)}
    for node in mentions:
        above = source.parent[node]
        if node.id not in used:
            if isinstance(above, ast.BinOp):
                source.replace(above, source.text(above.left if above.right is node else above.right))
            else:
                source.replace(node, "Any")
    return source.apply()


def remove_stale_raises(source: Source) -> str:
    """Removes from docstrings the errors that their functions no longer raise."""
    for node in source.nodes:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or ast.get_docstring(node) is None:
            continue
        if any(isinstance(n, ast.Raise) for n in ast.walk(node)):
            continue
        text = source.text(node.body[0])
        new = re.sub(r"\s*\bRaises\s[^.]*\.(?=\s|\"\"\")", "", text)
        if new != text:
            source.replace(node.body[0], new) if new.strip('"').strip() else source.remove(node.body[0])
    return source.apply()
