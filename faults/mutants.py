"""Small wrong edits of a Python source, found in its syntax tree and applied to its text.

Comparisons are reversed or lose their equality, operators are exchanged, numbers are off by one, `not` is dropped,
`and` becomes `or`, a branch is always or never taken, a statement is left out, two arguments are swapped, `min` becomes
`max`. Docstrings, error messages and annotations are not changed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

__all__ = ["Mutant", "mutants"]

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_PAIRS = "min max, any all, floor ceil, argmin argmax, minimum maximum, zeros ones, log log1p, exp expm1, sum prod"
NAMES = {a: b for pair in _PAIRS.split(", ") for a, b in (pair.split(), pair.split()[::-1])}
WORDS = {"left": "right", "right": "left", "first": "last", "last": "first"}


@dataclass(frozen=True, order=True)
class Mutant:
    """One edit: the bytes [start, end) of the source, and what replaces them."""

    start: int
    end: int
    line: int
    kind: str
    before: str
    after: str

    def apply(self, source: str) -> str:
        """The source with the edit, with the same number of lines."""
        raw = source.encode()
        lost = raw[self.start : self.end].count(b"\n")
        after = self.after + "\n" * lost if self.kind == "left out" else f"({self.after}" + "\n" * lost + ")"
        return (raw[: self.start] + after.encode() + raw[self.end :]).decode()

    def row(self) -> tuple[int, str, str, str]:
        """Line, kind, and the texts before and after, each in one line."""
        return self.line, self.kind, " ".join(self.before.split()), self.after


def _silent(tree: ast.AST) -> set[int]:
    """The identities of nodes that do not compute anything."""
    found: set[int] = set()

    def leave(node):
        found.update(id(inner) for inner in ast.walk(node))

    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
            leave(node)
        if isinstance(node, ast.Raise) and node.exc is not None:
            leave(node.exc)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            annotations = [a.annotation for a in [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs]]
            for part in (*annotations, node.returns, *node.decorator_list):
                if part is not None:
                    leave(part)
        if isinstance(node, ast.AnnAssign):
            leave(node.annotation)
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in node.targets):
            leave(node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            leave(node)
    return found


def _changes(node: ast.AST):
    """The edits of one node: kind and new node, or None to leave out a statement."""
    match node:
        case ast.Compare(ops=[op]):
            for other in COMPARISONS[type(op)]:
                yield "comparison", ast.Compare(node.left, [other()], node.comparators)
        case ast.Compare(ops=ops):
            for k, op in enumerate(ops):
                changed = [*ops[:k], COMPARISONS[type(op)][0](), *ops[k + 1 :]]
                yield "comparison", ast.Compare(node.left, changed, node.comparators)
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            yield "operator", ast.BinOp(node.left, OPERATORS[type(op)](), node.right)
        case ast.BoolOp(op=op):
            yield "and/or", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield "sign or not", node.operand
        case ast.Constant(value=bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield "constant", ast.Constant(value + 1)
            if value:
                yield "constant", ast.Constant(value - 1)
        case ast.Constant(value=float(value)):
            yield "constant", ast.Constant(value * 1.5 if value else 0.5)
        case ast.Constant(value=str(value)) if value in WORDS:
            yield "constant", ast.Constant(WORDS[value])
        case ast.IfExp():
            yield "branch", node.body
            yield "branch", node.orelse
        case ast.Call(args=[first, second, *rest]) if not isinstance(second, ast.Starred):
            if not isinstance(first, ast.Starred) and getattr(node.func, "id", "") not in ("min", "max", "isinstance"):
                yield "arguments swapped", ast.Call(node.func, [second, first, *rest], node.keywords)
        case ast.Return(value=ast.expr() as value):
            yield "left out", ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break() | ast.Raise():
            yield "left out", None
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "left out", None
    match node:
        case ast.If() | ast.While():
            if isinstance(node, ast.If):
                yield "test", ast.Constant(True)
            yield "test", ast.Constant(False)
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            yield "name", ast.Call(ast.Name(NAMES[name]), node.args, node.keywords)
        case ast.Call(func=ast.Attribute(attr=name)) if name in NAMES:
            yield "name", ast.Call(ast.Attribute(node.func.value, NAMES[name]), node.args, node.keywords)


def mutants(source: str) -> list[Mutant]:
    """All mutants of a source."""
    tree = ast.parse(source)
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    silent, found = _silent(tree), []
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        for kind, changed in _changes(node):
            place = node.test if kind == "test" else node
            if changed is not None and ast.dump(changed) == ast.dump(place):
                continue
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[place.end_lineno - 1] + place.end_col_offset
            before = source.encode()[start:end].decode()
            after = "pass" if changed is None else ast.unparse(ast.fix_missing_locations(changed))
            found.append(Mutant(start, end, place.lineno, kind, before, after))
    return sorted(set(found))
