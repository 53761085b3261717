"""Small faults that a program may have, made from its syntax tree.

    >>> from benchmarks.faults import faults
    >>> source = "def f(x):\\n    return x + 1\\n"
    >>> for fault in faults(source):
    ...     print(fault.kind, "|", fault.applied(source).splitlines()[1].strip())
    term dropped | return x
    + becomes - | return x - 1
    constant changed | return x + 2

Texts, type annotations, decorators, imports and what is raised are left alone, as is every
statement with the comment ``# speed only`` on its first line or on the line above: thresholds
that decide how fast something is done, and not what comes out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

SPEED_ONLY = "# speed only"
OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
TERMS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
PARTNERS = {
    "min": "max",
    "minimum": "maximum",
    "argmin": "argmax",
    "any": "all",
    "largest": "smallest",
    "floor": "ceil",
    "zeros": "ones",
}
PARTNERS |= {other: name for name, other in PARTNERS.items()}
UNTOUCHED = (ast.JoinedStr, ast.Raise, ast.Import, ast.ImportFrom, ast.Assert)


class Fault(NamedTuple):
    """A stretch of source, and what to put there."""

    kind: str
    line: int  # of its first character, from 1
    start: int  # in characters of the whole source
    stop: int
    after: str

    def applied(self, source: str) -> str:
        """The source with the fault."""
        return source[: self.start] + self.after + source[self.stop :]


def faults(source: str) -> list[Fault]:
    """Every fault that can be made of a module, in the order of its lines."""
    found = sorted(_Walk(source).module(), key=lambda fault: (fault.start, fault.stop))
    return [fault for fault in found if fault.applied(source) != source]


class _Walk:
    """A walk over the tree of one module."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def module(self) -> Iterator[Fault]:
        yield from self._statements(ast.parse(self.source).body)

    # ---- places ----------------------------------------------------------------------------

    def _place(self, line: int, column: int) -> int:
        """Characters before a position that the tree gives in lines and bytes."""
        before = self.lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(before)

    def _span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._place(node.lineno, node.col_offset)
        return start, self._place(node.end_lineno, node.end_col_offset)

    def _text(self, node: ast.expr) -> str:
        start, stop = self._span(node)
        return self.source[start:stop]

    def _fault(self, kind: str, span: tuple[int, int], after: str) -> Fault:
        line = self.source.count("\n", 0, span[0]) + 1
        return Fault(kind, line, *span, after)

    def _between(self, left: ast.expr, right: ast.expr, before: str, after: str) -> Iterator[Fault]:
        """An operator between two operands replaced."""
        start, stop = self._span(left)[1], self._span(right)[0]
        place = self.source.find(before, start, stop)
        if place >= 0 and "#" not in self.source[start:place]:
            kind = f"{before} becomes {after}"
            yield self._fault(kind, (place, place + len(before)), after)

    # ---- statements ------------------------------------------------------------------------

    def _statements(self, body: list[ast.stmt]) -> Iterator[Fault]:
        for statement in body:
            if not self._exempt(statement):
                yield from self._statement(statement)

    def _exempt(self, statement: ast.stmt) -> bool:
        lines = self.lines[max(0, statement.lineno - 2) : statement.lineno]
        above = lines[0].strip() if len(lines) == 2 else ""
        named = isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id.startswith("__")
            for target in statement.targets
        )
        main = isinstance(statement, ast.If) and "__name__" in self._text(statement.test)
        typing = isinstance(statement, ast.If) and "TYPE_CHECKING" in self._text(statement.test)
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        marked = SPEED_ONLY in lines[-1] or above.startswith(SPEED_ONLY)
        return marked or named or main or typing or text or isinstance(statement, UNTOUCHED)

    def _statement(self, statement: ast.stmt) -> Iterator[Fault]:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if isinstance(statement, ast.FunctionDef):
                defaults = [*statement.args.defaults, *statement.args.kw_defaults]
                yield from self._expressions([value for value in defaults if value is not None])
            yield from self._statements(statement.body)
            return
        if isinstance(statement, ast.AnnAssign):
            yield from self._expressions([statement.value] if statement.value else [])
            return
        yield from self._whole(statement)
        for name, value in ast.iter_fields(statement):
            if name in ("body", "orelse", "finalbody"):
                yield from self._statements(value)
            elif name == "handlers":
                for handler in value:
                    yield from self._statements(handler.body)
            elif name == "cases":
                for case in value:
                    yield from self._statements(case.body)
            elif isinstance(value, ast.expr):
                yield from self._expressions([value])
            elif isinstance(value, list):
                yield from self._expressions([item for item in value if isinstance(item, ast.expr)])

    def _whole(self, statement: ast.stmt) -> Iterator[Fault]:
        """Faults of the statement itself."""
        if isinstance(statement, ast.If | ast.While):
            if isinstance(statement, ast.If):
                test = self._text(statement.test)
                yield self._fault("condition negated", self._span(statement.test), f"not ({test})")
        elif isinstance(statement, ast.AugAssign):
            yield from self._between_parts(statement)
            yield self._fault("statement dropped", self._span(statement), "pass")
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield self._fault("statement dropped", self._span(statement), "pass")
        elif isinstance(statement, ast.Continue):
            yield self._fault("continue becomes break", self._span(statement), "break")
        elif isinstance(statement, ast.Break):
            yield self._fault("break becomes pass", self._span(statement), "pass")
        if isinstance(statement, ast.For | ast.While):
            last = statement.body[-1]
            if last.lineno > statement.lineno and not isinstance(last, ast.Return | ast.Break):
                stop = self._span(last)[1]
                indent = " " * statement.body[0].col_offset
                yield self._fault("loop ends after one pass", (stop, stop), f"\n{indent}break")

    def _between_parts(self, statement: ast.AugAssign) -> Iterator[Fault]:
        signs = OPERATORS.get(type(statement.op))
        if signs is not None:
            before, after = (f"{sign}=" for sign in signs)
            yield from self._between(statement.target, statement.value, before, after)

    # ---- expressions -----------------------------------------------------------------------

    def _expressions(self, nodes: list[ast.expr]) -> Iterator[Fault]:
        for node in nodes:
            if isinstance(node, UNTOUCHED) or self._is_text(node):
                continue
            yield from self._expression(node)
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from self._expressions([child])
                elif isinstance(child, ast.keyword):
                    yield from self._expressions([child.value])
                elif isinstance(child, ast.comprehension):
                    yield from self._comprehension(child)

    def _is_text(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)

    def _comprehension(self, node: ast.comprehension) -> Iterator[Fault]:
        for condition in node.ifs:
            text = self._text(condition)
            yield self._fault("condition negated", self._span(condition), f"not ({text})")
        yield from self._expressions([node.iter, *node.ifs])

    def _expression(self, node: ast.expr) -> Iterator[Fault]:
        if isinstance(node, ast.BinOp):
            yield from self._binary(node)
        elif isinstance(node, ast.Compare):
            yield from self._comparison(node)
        elif isinstance(node, ast.BoolOp):
            before, after = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from self._between(node.values[0], node.values[1], before, after)
        elif isinstance(node, ast.UnaryOp):
            yield from self._unary(node)
        elif isinstance(node, ast.Constant):
            yield from self._constant(node)
        elif isinstance(node, ast.IfExp):
            test = self._text(node.test)
            yield self._fault("condition negated", self._span(node.test), f"not ({test})")
        elif isinstance(node, ast.Call):
            yield from self._call(node)

    def _binary(self, node: ast.BinOp) -> Iterator[Fault]:
        if self._is_text(node.left) or self._is_text(node.right):
            return
        signs = OPERATORS.get(type(node.op))
        if signs is not None:
            yield from self._between(node.left, node.right, *signs)
        if isinstance(node.op, TERMS):
            start, stop = self._span(node)
            yield self._fault("term dropped", (start, stop), self.source[start : self._end(node)])

    def _end(self, node: ast.BinOp) -> int:
        """Where the left operand ends, its parentheses included."""
        stop = self._span(node.left)[1]
        opened = self.source[self._span(node)[0] : stop]
        missing = opened.count("(") - opened.count(")")
        while missing > 0 and self.source[stop] in ") \n":
            missing -= self.source[stop] == ")"
            stop += 1
        return stop

    def _comparison(self, node: ast.Compare) -> Iterator[Fault]:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:]):
            yield from self._between(left, right, *COMPARISONS[type(operator)])

    def _unary(self, node: ast.UnaryOp) -> Iterator[Fault]:
        dropped = {ast.Not: "not dropped", ast.USub: "- dropped", ast.Invert: "~ dropped"}
        if type(node.op) in dropped:
            start, stop = self._span(node)
            inner = self.source[start:stop].removeprefix("not").lstrip("-~ ")
            yield self._fault(dropped[type(node.op)], (start, stop), inner)

    def _constant(self, node: ast.Constant) -> Iterator[Fault]:
        value = node.value
        if isinstance(value, bool):
            after = str(not value)
        elif isinstance(value, int):
            after = str(value + 1)
        elif isinstance(value, float):
            after = repr(2.0 * value) if value else "1.0"
        else:
            return
        yield self._fault("constant changed", self._span(node), after)

    def _call(self, node: ast.Call) -> Iterator[Fault]:
        function = node.func
        name = getattr(function, "attr", getattr(function, "id", ""))
        if name in PARTNERS:
            stop = self._span(function)[1]
            kind = f"{name} becomes {PARTNERS[name]}"
            yield self._fault(kind, (stop - len(name), stop), PARTNERS[name])
        arguments = [*node.args, *(word.value for word in node.keywords)]
        if node.keywords and node.keywords[-1].arg is not None and len(arguments) > 1:
            previous = node.keywords[-2].value if len(node.keywords) > 1 else node.args[-1]
            start, stop = self._span(previous)[1], self._span(node.keywords[-1])[1]
            cut = self.source.find(",", start)
            if 0 <= cut < stop:
                yield self._fault("argument dropped", (cut, stop), "")
