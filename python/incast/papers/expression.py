"""Expression language of claims: arithmetic and comparisons over measured numbers.

An expression is a subset of Python: numbers, texts, lists, ``+ - * / % **``, comparisons, ``and``, ``or``, ``not``,
calls of given functions, and comprehensions, as in ``all(f(n) > 1 for n in x() if n > 8)``. Attributes, subscripts and
built-in names are excluded.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Any

import numpy as np

from incast.errors import ModelError

Value = Any
"""A number, a truth value, a text, or a list of them."""


class Undecided(Enum):
    """Third truth value: a comparison within the noise."""

    OPEN = auto()


Truth = bool | Undecided
Compare = Callable[[type[ast.cmpop], Value, Value], Truth]
"""Function that compares two values."""

DEPTH = 64
"""Deepest nesting of an expression, far below Python's recursion limit."""

TURNS = 100_000
"""Most iterations of the loops of an expression."""


class ExpressionError(Exception):
    """An expression cannot be read or evaluated."""


class LengthError(ExpressionError):
    """Lists of an expression are empty or differ in length; other points might fit."""


class MeaninglessError(ExpressionError):
    """An expression has no value for any numbers: it uses unknown names, or is not a statement."""


def as_number(value: Value) -> float:
    """Return a number unchanged; ``TypeError`` for anything else, including truth values."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float):
        raise TypeError(f"expected a number, not {_kind(value)}")
    return value


def _kind(value: Value) -> str:
    if isinstance(value, bool | np.bool_):
        return "a truth value"
    return "a text" if isinstance(value, str) else "a list" if isinstance(value, list) else "a number"


def _numbers(values: Sequence[Value]) -> list[float]:
    return [as_number(value) for value in _listed(values)]


def _same_length(name: str, a: Value, b: Value) -> tuple[list[float], list[float]]:
    if not (isinstance(a, list) and isinstance(b, list)):
        raise TypeError(f"{name}: expected two lists, not {_kind(a)} and {_kind(b)}")
    if len(a) != len(b):
        raise LengthError(f"{name}: expected two lists of the same length, not of {len(a)} and {len(b)}")
    return _numbers([a]), _numbers([b])


def mean(*values: Value) -> float:
    """Mean of numbers, or of one list."""
    listed = _numbers(values)
    return math.fsum(listed) / len(listed)


def ratio(a: float, b: float) -> float:
    """Return a over b."""
    return as_number(a) / as_number(b)


def ratios(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Return the element-wise ratios of a and b."""
    over, under = _same_length("ratios", a, b)
    return [x / y for x, y in zip(over, under, strict=True)]


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the least-squares slope of ln y over ln x: the exponent of a power law."""
    xs, ys = _same_length("slope", xs, ys)
    if len(xs) < 2:
        raise LengthError("slope: expected two lists of 2 or more numbers")
    if min(*xs, *ys) <= 0:
        raise ExpressionError("slope: expected numbers above 0")
    u, v = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mu, mv = mean(u), mean(v)
    return math.fsum((a - mu) * (b - mv) for a, b in zip(u, v, strict=True)) / math.fsum((a - mu) ** 2 for a in u)


def model(name: str, figure: str, *parameters: Value) -> float:
    """Return a figure of a closed-form model (``incast model list``); parameters are names followed by values."""
    from incast.models import closed_form

    names, values = parameters[::2], parameters[1::2]
    if len(names) != len(values) or not all(isinstance(name, str) for name in names):
        raise MeaninglessError("model: expected a model, a figure, and names of parameters, each followed by its value")
    try:
        closed_form.find(name).figure(figure)
    except ModelError as error:
        raise MeaninglessError(f"model: {error}") from None
    try:
        return float(closed_form.evaluate(name, **dict(zip(names, values, strict=True)))[figure])
    except (ModelError, TypeError) as error:
        raise ExpressionError(f"model: {error}") from None


def comparing(compare: Compare) -> Mapping[str, Callable[..., Value]]:
    """Return the comparing functions, based on ``compare``."""

    def rising(*values: Value) -> Truth:
        """Return whether each number is above the one before."""
        return _all([compare(ast.Lt, a, b) for a, b in itertools.pairwise(_numbers(values))])

    def falling(*values: Value) -> Truth:
        """Return whether each number is below the one before."""
        return _all([compare(ast.Gt, a, b) for a, b in itertools.pairwise(_numbers(values))])

    def within(a: Value, b: Value, part: float) -> Truth:
        """Return whether a differs from b by at most this fraction of b; element-wise for lists."""
        if isinstance(a, list) or isinstance(b, list):
            pairs = zip(*_same_length("within", a, b), strict=True)
        else:
            pairs = zip([as_number(a)], [as_number(b)], strict=True)
        part = as_number(part)
        # compare both ends of the band, so that noise around b does not count as distance
        return _all(
            [
                compared
                for x, y in pairs
                for compared in (compare(ast.GtE, x, y - part * abs(y)), compare(ast.LtE, x, y + part * abs(y)))
            ]
        )

    return {"falling": falling, "rising": rising, "within": within}


def every(*values: Value) -> Truth:
    """Return whether all statements of a list are true; an empty list is an error."""
    return _all([_truth(value) for value in _listed(values)])


def some(*values: Value) -> Truth:
    """Return whether at least one statement of a list is true."""
    return _any([_truth(value) for value in _listed(values)])


def count(*values: Value) -> int:
    """Return the number of true statements of a list; an undecided one is an error."""
    found = [_truth(value) for value in _listed(values)]
    if Undecided.OPEN in found:
        raise MeaninglessError("count: expected decided statements, as without paired")
    return sum(value is True for value in found)


def _all(values: Sequence[Truth]) -> Truth:
    if any(value is False for value in values):
        return False
    return Undecided.OPEN if Undecided.OPEN in values else True


def _any(values: Sequence[Truth]) -> Truth:
    return _not(_all([_not(value) for value in values]))


def _not(value: Truth) -> Truth:
    return value if isinstance(value, Undecided) else not value


def _truth(value: Value) -> Truth:
    # numbers are not statements: all except 0 would hold
    if isinstance(value, Undecided):
        return value
    if not isinstance(value, bool | np.bool_):
        raise MeaninglessError(f"expected a comparison, not {_kind(value)}")
    return bool(value)


def _listed(values: Sequence[Value]) -> list[Value]:
    listed = list(values[0]) if len(values) == 1 and isinstance(values[0], list) else list(values)
    if not listed:
        raise LengthError("expected at least one number, not an empty list")
    return listed


_COMPARE: Mapping[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def compared(op: type[ast.cmpop], a: Value, b: Value) -> bool:
    """Compare two numbers; for equality also two texts."""
    # Python compares lists by the first pair that differs, and ignores the others
    if op in (ast.Eq, ast.NotEq) and isinstance(a, str) and isinstance(b, str):
        return _COMPARE[op](a, b)
    try:
        return bool(_COMPARE[op](as_number(a), as_number(b)))
    except TypeError as error:
        each = ": of lists, compare each" if isinstance(a, list) or isinstance(b, list) else ""
        raise TypeError(f"{error}{each}") from None


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    **comparing(compared),
    "abs": lambda value: abs(as_number(value)),
    "all": every,
    "any": some,
    "count": count,
    "max": lambda *values: max(_numbers(values)),
    "mean": mean,
    "min": lambda *values: min(_numbers(values)),
    "model": model,
    "ratio": ratio,
    "ratios": ratios,
    "slope": slope,
    "sqrt": lambda value: math.sqrt(as_number(value)),
}
"""Functions available in every expression."""

_BINARY: Mapping[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: math.pow,  # integers too: 9**9**9 must overflow, not be computed
}


def parse(text: str, functions: Sequence[str], names: Sequence[str] = ()) -> ast.expr:
    """Read an expression that only calls these and the built-in functions, and only uses these names."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"cannot be read: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise ExpressionError(_TOO_DEEP) from None
    _check(tree, {*functions, *FUNCTIONS}, set(names))
    return tree


_TOO_DEEP = f"nested too deeply: expected at most {DEPTH} levels, such as a sum of {DEPTH} numbers"


def number(node: ast.expr, names: Mapping[str, Value]) -> float:
    """Evaluate an expression that must be a number."""
    found = evaluate(node, {}, names)
    try:
        return float(as_number(found))
    except TypeError as error:
        raise MeaninglessError(f"{ast.unparse(node)}: {error}") from None


def truth(
    node: ast.expr,
    functions: Mapping[str, Callable[..., Value]],
    compare: Compare = compared,
    met: Collection[str] = (),
) -> Truth:
    """Evaluate an expression that must be a statement, not a number: true, false, or a result of ``compare``.

    ``met`` as in :func:`evaluate`.
    """
    return _truth(evaluate(node, functions, compare=compare, met=met))


def calls(node: ast.AST, functions: Collection[str]) -> bool:
    """Return whether an expression calls one of these functions."""
    return any(called(part) in functions for part in ast.walk(node))


def called(node: ast.AST) -> str:
    """Return the name of the called function; empty if the node is not a call."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _check(node: ast.expr, functions: set[str], names: set[str], depth: int = 1) -> None:
    if depth > DEPTH:
        raise ExpressionError(_TOO_DEEP)
    match node:
        case ast.Constant(value=bool()):
            raise ExpressionError("True and False are not allowed in claims")
        case ast.Constant(value=int() | float() | str()):
            return
        case ast.Name(id=name):
            if name not in names:
                raise ExpressionError(f'"{name}" is unknown; expected one of: {", ".join(sorted(names | functions))}')
            return
        case ast.List(elts=parts) | ast.BoolOp(values=parts):
            pass
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            parts = [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            parts = [operand]
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARE for op in ops):
            parts = [left, *others]
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]):
            if name not in functions:
                raise ExpressionError(f"{name}() is unknown; expected one of: {', '.join(sorted(functions))}")
        case ast.ListComp(elt=each, generators=loops) | ast.GeneratorExp(elt=each, generators=loops):
            for loop in loops:
                if not isinstance(loop.target, ast.Name) or loop.is_async:
                    raise ExpressionError(f'"{ast.unparse(node)}": expected one name after for')
                if loop.target.id in functions:
                    raise ExpressionError(f'"{loop.target.id}" after for: expected a name other than a function\'s')
                _check(loop.iter, functions, names, depth + 1)
                names = {*names, loop.target.id}
                for condition in loop.ifs:
                    _check(condition, functions, names, depth + 1)
            parts = [each]
        case _:
            raise ExpressionError(f'"{ast.unparse(node)}" is not allowed in claims')
    for part in parts:
        _check(part, functions, names, depth + 1)


def evaluate(
    node: ast.expr,
    functions: Mapping[str, Callable[..., Value]],
    names: Mapping[str, Value] | None = None,
    compare: Compare = compared,
    met: Collection[str] = (),
) -> Value:
    """Evaluate an expression of ``parse``; raises ``ExpressionError`` if the numbers do not fit.

    ``compare`` compares numbers, except in conditions of loops, which are true or false. Conditions that call one of
    the functions ``met`` are evaluated, but count as true; ``count`` then counts all.
    """
    return _Evaluation(functions, compare, met).value(node, names or {})


class _Evaluation:
    """Evaluation of one expression."""

    def __init__(self, functions: Mapping[str, Callable[..., Value]], compare: Compare, met: Collection[str]) -> None:
        self.compare, self.met = compare, met
        self.known = {**FUNCTIONS, **comparing(self.compared), **functions}
        if met:
            self.known["count"] = lambda *values: len([_truth(value) for value in _listed(values)])
        self.conditions = 0
        """Depth of conditions of loops."""
        self.turns = itertools.count(1)

    def compared(self, op: type[ast.cmpop], a: Value, b: Value) -> Truth:
        return (compared if self.conditions else self.compare)(op, a, b)

    def value(self, node: ast.expr, names: Mapping[str, Value]) -> Value:
        try:
            return self.worked_out(node, names)
        except TypeError as error:
            # wrong type or number of arguments, independent of the numbers
            raise MeaninglessError(f"{ast.unparse(node)}: {error}") from None
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            raise ExpressionError(f"{ast.unparse(node)}: {error}") from None

    def worked_out(self, node: ast.expr, names: Mapping[str, Value]) -> Value:
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name):
                return names[name]
            case ast.List(elts=parts):
                return self.values(parts, names)
            case ast.ListComp(elt=each, generators=loops) | ast.GeneratorExp(elt=each, generators=loops):
                return [self.value(each, bound) for bound in self.bindings(loops, names)]
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self.values([left, right], names)
                return _BINARY[type(op)](as_number(a), as_number(b))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _not(_truth(self.value(operand, names)))
            case ast.UnaryOp(operand=operand):
                return -as_number(self.value(operand, names))
            case ast.BoolOp(op=op, values=parts):
                # evaluate all parts first, so that the verdict shows all numbers
                found = [_truth(part) for part in self.values(parts, names)]
                return _all(found) if isinstance(op, ast.And) else _any(found)
            case ast.Compare(left=left, ops=ops, comparators=others):
                found = self.values([left, *others], names)
                pairs = zip(ops, found, found[1:], strict=False)
                # likewise, to find a non-statement after a false one
                return _all([self.compared(type(op), a, b) for op, a, b in pairs])
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.known[name](*self.values(args, names))
        raise ExpressionError(f'"{ast.unparse(node)}" is not allowed in claims')

    def values(self, parts: Sequence[ast.expr], names: Mapping[str, Value]) -> list[Value]:
        return [self.value(part, names) for part in parts]

    def bindings(self, loops: Sequence[ast.comprehension], names: Mapping[str, Value]) -> Iterator[Mapping[str, Value]]:
        if not loops:
            yield names
            return
        loop, *inner = loops
        over = self.value(loop.iter, names)
        if not isinstance(over, list):
            raise MeaninglessError(f"{ast.unparse(loop.iter)}: expected a list, not {_kind(over)}")
        for one in over:
            if next(self.turns) > TURNS:
                raise MeaninglessError(f"its loops take more than {TURNS:,d} iterations")
            bound = {**names, ast.unparse(loop.target): one}
            if self.kept(loop.ifs, bound):
                yield from self.bindings(inner, bound)

    def kept(self, parts: Sequence[ast.expr], names: Mapping[str, Value]) -> bool:
        self.conditions += 1
        try:
            found = [_truth(self.value(part, names)) is True or calls(part, self.met) for part in parts]
            return all(found)
        finally:
            self.conditions -= 1
