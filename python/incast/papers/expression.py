"""The small language of claims: arithmetic and comparisons over measured numbers, and nothing else.

An expression is Python's syntax of numbers, texts, lists, ``+ - * / % **``, comparisons, ``and``, ``or``, ``not``,
calls of the functions it is given, and lists made of lists, as in ``all(f(n) > 1 for n in x() if n > 8)``. There are no
attributes, subscripts or names of Python's.
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

Value = Any
"""A number, a truth value, a text, or a list of them."""


class Undecided(Enum):
    """The third truth value: whether a comparison holds is not clear of the noise."""

    OPEN = auto()


Truth = bool | Undecided
Compare = Callable[[type[ast.cmpop], Value, Value], Truth]
"""How two values are compared."""

DEPTH = 64
"""Most parts of an expression within one another: far below where Python's own stack ends."""

TURNS = 100_000
"""Most turns of the loops of an expression."""


class ExpressionError(Exception):
    """An expression cannot be read or evaluated."""


class LengthError(ExpressionError):
    """Lists of an expression are empty, or of lengths that do not go together: with other points they might."""


class MeaninglessError(ExpressionError):
    """An expression asks for what is not there, or is no statement: whatever the numbers are, it has no value."""


def as_number(value: Value) -> float:
    """Return a number as it is; ``TypeError`` of anything else, truth values among it."""
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
    """Return each number of a over the one of b in its place."""
    over, under = _same_length("ratios", a, b)
    return [x / y for x, y in zip(over, under, strict=True)]


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Slope of ln y over ln x by least squares: the exponent of a power law."""
    xs, ys = _same_length("slope", xs, ys)
    if len(xs) < 2:
        raise LengthError("slope: expected two lists of 2 or more numbers")
    if min(*xs, *ys) <= 0:
        raise ExpressionError("slope: expected numbers above 0")
    u, v = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mu, mv = mean(u), mean(v)
    return math.fsum((a - mu) * (b - mv) for a, b in zip(u, v, strict=True)) / math.fsum((a - mu) ** 2 for a in u)


def model(name: str, figure: str, *parameters: Value) -> float:
    """Return a figure of a closed-form model (``incast model list``): names of parameters, each before its value."""
    from incast import model as models
    from incast.errors import ModelError

    names, values = parameters[::2], parameters[1::2]
    if len(names) != len(values) or not all(isinstance(name, str) for name in names):
        raise MeaninglessError("model: expected a model, a figure, and names of parameters, each before its value")
    try:
        models.find(name).figure(figure)
    except ModelError as error:
        raise MeaninglessError(f"model: {error}") from None
    try:
        return float(models.evaluate(name, **dict(zip(names, values, strict=True)))[figure])
    except (ModelError, TypeError) as error:
        raise ExpressionError(f"model: {error}") from None


def comparing(compare: Compare) -> Mapping[str, Callable[..., Value]]:
    """Make the functions that compare numbers, by this way of comparing them."""

    def rising(*values: Value) -> Truth:
        """Whether each number is above the one before."""
        return _all([compare(ast.Lt, a, b) for a, b in itertools.pairwise(_numbers(values))])

    def falling(*values: Value) -> Truth:
        """Whether each number is below the one before."""
        return _all([compare(ast.Gt, a, b) for a, b in itertools.pairwise(_numbers(values))])

    def within(a: Value, b: Value, part: float) -> Truth:
        """Whether a differs from b by at most this part of b; of two lists, each number from the one in its place."""
        if isinstance(a, list) or isinstance(b, list):
            pairs = zip(*_same_length("within", a, b), strict=True)
        else:
            pairs = zip([as_number(a)], [as_number(b)], strict=True)
        part = as_number(part)
        # both ends of the band, so that noise around b itself does not seem to be a distance from it
        return _all(
            [
                compared
                for x, y in pairs
                for compared in (compare(ast.GtE, x, y - part * abs(y)), compare(ast.LtE, x, y + part * abs(y)))
            ]
        )

    return {"falling": falling, "rising": rising, "within": within}


def every(*values: Value) -> Truth:
    """Whether all statements of a list are true; of none there is nothing to say."""
    return _all([_truth(value) for value in _listed(values)])


def some(*values: Value) -> Truth:
    """Whether at least one statement of a list is true."""
    return _any([_truth(value) for value in _listed(values)])


def count(*values: Value) -> int:
    """How many statements of a list are true; of an undecided one there is no telling."""
    found = [_truth(value) for value in _listed(values)]
    if Undecided.OPEN in found:
        raise MeaninglessError("count: expected statements that are decided, as without paired")
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
    # Numbers are no statements: all of them but 0 would hold.
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
    """Compare two numbers; whether they are equal also two texts."""
    # Lists would be compared by the first pair that differs, which says nothing of their other numbers.
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
"""Functions that every expression may call."""

_BINARY: Mapping[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: math.pow,  # of whole numbers too: 9**9**9 is to be too large, not to be worked out
}


def parse(text: str, functions: Sequence[str], names: Sequence[str] = ()) -> ast.expr:
    """Read an expression that calls only these functions, besides those all have, and uses only these names."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"cannot be read: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise ExpressionError(_TOO_DEEP) from None
    _check(tree, {*functions, *FUNCTIONS}, set(names))
    return tree


_TOO_DEEP = f"too many parts within one another: expected at most {DEPTH}, as of a sum of {DEPTH} numbers"


def number(node: ast.expr, names: Mapping[str, Value]) -> float:
    """Evaluate what must be a number, of these names."""
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
    """Evaluate what must be a statement, and no number: true or false, or what this way of comparing gives.

    ``met`` as in :func:`evaluate`.
    """
    return _truth(evaluate(node, functions, compare=compare, met=met))


def calls(node: ast.AST, functions: Collection[str]) -> bool:
    """Whether an expression calls one of these functions."""
    return any(called(part) in functions for part in ast.walk(node))


def called(node: ast.AST) -> str:
    """Name of the function that a part of an expression calls; empty where it is no call."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _check(node: ast.expr, functions: set[str], names: set[str], depth: int = 1) -> None:
    if depth > DEPTH:
        raise ExpressionError(_TOO_DEEP)
    match node:
        case ast.Constant(value=bool()):
            raise ExpressionError("True and False are no part of claims")
        case ast.Constant(value=int() | float() | str()):
            return
        case ast.Name(id=name):
            if name not in names:
                raise ExpressionError(f'"{name}" is not known; expected one of: {", ".join(sorted(names | functions))}')
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
                raise ExpressionError(f"{name}() is not known; expected one of: {', '.join(sorted(functions))}")
        case ast.ListComp(elt=each, generators=loops) | ast.GeneratorExp(elt=each, generators=loops):
            for loop in loops:
                if not isinstance(loop.target, ast.Name) or loop.is_async:
                    raise ExpressionError(f'"{ast.unparse(node)}": expected one name behind for')
                if loop.target.id in functions:
                    raise ExpressionError(f'"{loop.target.id}" behind for: expected a name that is not a function\'s')
                _check(loop.iter, functions, names, depth + 1)
                names = {*names, loop.target.id}
                for condition in loop.ifs:
                    _check(condition, functions, names, depth + 1)
            parts = [each]
        case _:
            raise ExpressionError(f'"{ast.unparse(node)}" is no part of claims')
    for part in parts:
        _check(part, functions, names, depth + 1)


def evaluate(
    node: ast.expr,
    functions: Mapping[str, Callable[..., Value]],
    names: Mapping[str, Value] | None = None,
    compare: Compare = compared,
    met: Collection[str] = (),
) -> Value:
    """Evaluate what ``parse`` has read; raises ``ExpressionError`` where the numbers do not fit.

    ``compare`` compares numbers, but for the conditions of loops, which are true or false. Conditions that call one of
    the functions ``met`` are evaluated, and taken as true whatever they are; ``count`` then counts all.
    """
    conditions = 0

    def chosen(op: type[ast.cmpop], a: Value, b: Value) -> Truth:
        return (compared if conditions else compare)(op, a, b)

    known = {**FUNCTIONS, **comparing(chosen), **functions}
    if met:
        known["count"] = lambda *values: len([_truth(value) for value in _listed(values)])
    turns = itertools.count(1)

    def value(node: ast.expr, names: Mapping[str, Value]) -> Value:
        try:
            return worked_out(node, names)
        except TypeError as error:
            # Of a kind, or of a number of arguments: neither changes with the numbers.
            raise MeaninglessError(f"{ast.unparse(node)}: {error}") from None
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            raise ExpressionError(f"{ast.unparse(node)}: {error}") from None

    def worked_out(node: ast.expr, names: Mapping[str, Value]) -> Value:
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name):
                return names[name]
            case ast.List(elts=parts):
                return evaluated(parts, names)
            case ast.ListComp(elt=each, generators=loops) | ast.GeneratorExp(elt=each, generators=loops):
                return [value(each, bound) for bound in bindings(loops, names)]
            case ast.BinOp(left=left, op=op, right=right):
                a, b = evaluated([left, right], names)
                return _BINARY[type(op)](as_number(a), as_number(b))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _not(_truth(value(operand, names)))
            case ast.UnaryOp(operand=operand):
                return -as_number(value(operand, names))
            case ast.BoolOp(op=op, values=parts):
                # All parts are evaluated before, so that all numbers are shown beside the verdict.
                found = [_truth(part) for part in evaluated(parts, names)]
                return _all(found) if isinstance(op, ast.And) else _any(found)
            case ast.Compare(left=left, ops=ops, comparators=others):
                found = evaluated([left, *others], names)
                pairs = zip(ops, found, found[1:], strict=False)
                # Likewise: what is no statement is found behind one that is false, too.
                return _all([chosen(type(op), a, b) for op, a, b in pairs])
            case ast.Call(func=ast.Name(id=name), args=args):
                return known[name](*evaluated(args, names))
        raise ExpressionError(f'"{ast.unparse(node)}" is no part of claims')

    def evaluated(parts: Sequence[ast.expr], names: Mapping[str, Value]) -> list[Value]:
        return [value(part, names) for part in parts]

    def bindings(loops: Sequence[ast.comprehension], names: Mapping[str, Value]) -> Iterator[Mapping[str, Value]]:
        if not loops:
            yield names
            return
        loop, *inner = loops
        over = value(loop.iter, names)
        if not isinstance(over, list):
            raise MeaninglessError(f"{ast.unparse(loop.iter)}: expected a list, not {_kind(over)}")
        for one in over:
            if next(turns) > TURNS:
                raise MeaninglessError(f"its loops take more than {TURNS:,d} turns")
            bound = {**names, ast.unparse(loop.target): one}
            if kept(loop.ifs, bound):
                yield from bindings(inner, bound)

    def kept(parts: Sequence[ast.expr], names: Mapping[str, Value]) -> bool:
        nonlocal conditions
        conditions += 1
        try:
            found = [_truth(value(part, names)) is True or calls(part, met) for part in parts]
            return all(found)
        finally:
            conditions -= 1

    return value(node, names or {})
