/**
 * A user's class in JavaScript as the Python class that the installed program runs: numbers, conditions, loops,
 * attributes and `Math`. What has no counterpart is refused with its line.
 */

import { parse, type Expression, type Node, type Program, type Statement, type MethodDefinition } from "acorn";

/** Something that Python has no counterpart of here. */
export class Untranslated extends Error {
  constructor(what: string, node: Node) {
    super(`line ${node.loc?.start.line ?? "?"}: ${what} has no counterpart in Python here`);
  }
}

const NAMES: Record<string, string> = {
  "Math.max": "max", "Math.min": "min", "Math.abs": "abs", "Math.floor": "math.floor", "Math.ceil": "math.ceil",
  "Math.sqrt": "math.sqrt", "Math.pow": "math.pow", "Math.exp": "math.exp", "Math.log": "math.log",
  "Math.log2": "math.log2", "Math.log10": "math.log10", "Math.cbrt": "math.cbrt", "Math.hypot": "math.hypot",
  "Math.trunc": "math.trunc", "Math.PI": "math.pi", "Math.E": "math.e", "Number.isNaN": "math.isnan",
  "Number.isFinite": "math.isfinite", Infinity: "math.inf", NaN: "math.nan",
};
const OPERATORS: Record<string, string> = {
  "===": "==", "!==": "!=", "==": "==", "!=": "!=", "&&": "and", "||": "or", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
  "+": "+", "-": "-", "*": "*", "/": "/", "**": "**",
};
const ASSIGNMENTS = new Set(["=", "+=", "-=", "*=", "/=", "**="]);
/** Names of Python that no variable may have. */
const KEYWORDS = new Set(("and as assert async await break class continue def del elif else except finally for from "
  + "global if import in is lambda nonlocal not or pass raise return try while with yield True False None math max min "
  + "abs self").split(" "));

/** A variable or parameter: one that Python keeps for itself is refused, as users name parameters. */
function named(name: string, node: Node): string {
  if (KEYWORDS.has(name)) throw new Untranslated(`the name ${name}`, node);
  return name;
}

function number(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? String(value) : String(value).replace("e+", "e");
}

/** `1e6` is a float in Python and prints as written. */
function literal(node: Node & { value?: unknown; raw?: string | undefined }): string {
  const { value, raw } = node;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return raw && /^[\d._]+(e[+-]?\d+)?$/i.test(raw) ? raw : number(value);
  if (typeof value === "string") return JSON.stringify(value);
  throw new Untranslated("this value", node);
}

function expression(node: Expression | Node, tight = false): string {
  const wrap = (text: string) => (tight ? `(${text})` : text);
  const own = node as Expression;
  switch (own.type) {
    case "Literal": return literal(own);
    case "Identifier": return own.name === "undefined" ? "None" : NAMES[own.name] ?? named(own.name, own);
    case "ThisExpression": return "self";
    case "ParenthesizedExpression": return expression(own.expression, true);
    case "MemberExpression": {
      if (own.computed || own.property.type !== "Identifier") {
        return `${expression(own.object, true)}[${expression(own.property)}]`;
      }
      const text = own.object.type === "Identifier" ? `${own.object.name}.${own.property.name}` : "";
      if (text.startsWith("Math.") && !NAMES[text]) throw new Untranslated(text, own);
      if (KEYWORDS.has(own.property.name) && !NAMES[text]) throw new Untranslated(`the name ${own.property.name}`, own);
      return NAMES[text] ?? `${expression(own.object, true)}.${own.property.name}`;
    }
    case "CallExpression": {
      const { callee } = own;
      const called = callee.type === "MemberExpression" && callee.object.type === "ThisExpression";
      const text = expression(callee);
      if (!called && !Object.values(NAMES).includes(text)) throw new Untranslated(`a call of ${text}`, own);
      // of one number Python has no largest
      if ((text === "max" || text === "min") && own.arguments.length < 2) throw new Untranslated(`${text} of one`, own);
      return `${text}(${own.arguments.map((one) => expression(one)).join(", ")})`;
    }
    case "UnaryExpression":
      if (own.operator === "!") return wrap(`not ${expression(own.argument, true)}`);
      if (own.operator === "-" || own.operator === "+") {
        return wrap(`${own.operator}${expression(own.argument, true)}`);
      }
      throw new Untranslated(own.operator, own);
    case "BinaryExpression": case "LogicalExpression": {
      if (own.operator === "??") {
        // Python evaluates it twice
        if (own.left.type === "CallExpression") throw new Untranslated("?? after a call", own);
        const left = expression(own.left, true);
        return wrap(`${left} if ${left} is not None else ${expression(own.right, true)}`);
      }
      // the remainder has the sign of the dividend
      if (own.operator === "%") return `math.fmod(${expression(own.left)}, ${expression(own.right)})`;
      const operator = OPERATORS[own.operator];
      if (!operator) throw new Untranslated(own.operator, own);
      const none = (side: Node) => side.type === "Literal" && (side as { value?: unknown }).value === null;
      if (none(own.left) || none(own.right)) {
        const is = operator === "==" ? "is" : operator === "!=" ? "is not" : operator;
        return wrap(`${expression(own.left, true)} ${is} ${expression(own.right, true)}`);
      }
      return wrap(`${expression(own.left, true)} ${operator} ${expression(own.right, true)}`);
    }
    case "ConditionalExpression":
      return wrap(`${expression(own.consequent, true)} if ${expression(own.test, true)} else ${
        expression(own.alternate, true)}`);
    case "ArrayExpression": return `[${own.elements.map((one) => expression(one!)).join(", ")}]`;
    default: throw new Untranslated(`a ${own.type}`, own);
  }
}

const target = (node: Node): string => {
  if (node.type === "Identifier" || node.type === "MemberExpression") return expression(node);
  throw new Untranslated("this assignment", node);
};

function body(statements: Statement[] | Statement, indent: string): string[] {
  const list = Array.isArray(statements) ? statements
    : statements.type === "BlockStatement" ? statements.body : [statements];
  const lines = list.flatMap((one) => statement(one, indent));
  return lines.length ? lines : [`${indent}pass`];
}

function conditional(node: Statement & { type: "IfStatement" }, indent: string, word: string): string[] {
  const lines = [`${indent}${word} ${expression(node.test)}:`, ...body(node.consequent, `${indent}    `)];
  if (node.alternate?.type === "IfStatement") return [...lines, ...conditional(node.alternate, indent, "elif")];
  return node.alternate ? [...lines, `${indent}else:`, ...body(node.alternate, `${indent}    `)] : lines;
}

function statement(node: Statement, indent: string): string[] {
  switch (node.type) {
    case "EmptyStatement": return [];
    case "BlockStatement": return node.body.flatMap((one) => statement(one, indent));
    case "ReturnStatement": return [`${indent}return${node.argument ? ` ${expression(node.argument)}` : ""}`];
    case "BreakStatement": return [`${indent}break`];
    case "ContinueStatement": return [`${indent}continue`];
    case "IfStatement": return conditional(node as Statement & { type: "IfStatement" }, indent, "if");
    case "WhileStatement": return [`${indent}while ${expression(node.test)}:`, ...body(node.body, `${indent}    `)];
    case "VariableDeclaration": return node.declarations.map(({ id, init }) => (
      `${indent}${target(id)} = ${init ? expression(init) : "None"}`));
    case "ExpressionStatement": {
      const own = node.expression;
      if (own.type === "AssignmentExpression") {
        if (!ASSIGNMENTS.has(own.operator)) throw new Untranslated(own.operator, own);
        return [`${indent}${target(own.left)} ${own.operator} ${expression(own.right)}`];
      }
      if (own.type === "UpdateExpression") {
        return [`${indent}${target(own.argument)} ${own.operator === "++" ? "+=" : "-="} 1`];
      }
      if (own.type === "CallExpression") return [`${indent}${expression(own)}`];
      throw new Untranslated(`a ${own.type}`, own);
    }
    default: throw new Untranslated(`a ${node.type}`, node);
  }
}

/** Names of parameters with their defaults: `static params = { a: 1 }`. */
function params(node: Node | null | undefined): [string, string][] {
  if (node?.type !== "ObjectExpression") return [];
  const { properties } = node as Node & { properties: (Node & { key?: Node; value?: Node })[] };
  return properties.map((one) => {
    if (one.type !== "Property" || one.key?.type !== "Identifier" || !one.value) throw new Untranslated("this", one);
    return [(one.key as Node & { name: string }).name, expression(one.value)];
  });
}

/** Names that a constructor's pattern takes from its parameters: `{ a, b }`. */
function pattern(node: Node): string[] {
  if (node.type !== "ObjectPattern") throw new Untranslated("this constructor", node);
  const { properties } = node as Node & { properties: (Node & { shorthand?: boolean; key?: Node; value?: Node })[] };
  return properties.map((one) => {
    if (!one.shorthand || one.value?.type !== "Identifier") throw new Untranslated("this constructor", one);
    return (one.value as Node & { name: string }).name;
  });
}

/** Refuses a name that is declared twice: in Python both would be one variable. */
function once(statements: Statement[], method: Node): void {
  const seen = new Set<string>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (typeof node !== "object" || node === null || Array.isArray(node)) return;
    const own = node as Node & { id?: Node & { name?: string } };
    if (own.type === "VariableDeclarator" && own.id?.name) {
      if (seen.has(own.id.name)) throw new Untranslated(`a second ${own.id.name}`, method);
      seen.add(own.id.name);
    }
    for (const [key, value] of Object.entries(own)) if (key !== "loc") visit(value);
  };
  visit(statements);
}

function method(own: MethodDefinition, given: [string, string][]): string[] {
  if (own.key.type !== "Identifier" || own.kind === "get" || own.kind === "set" || own.static) {
    throw new Untranslated("this method", own);
  }
  if (own.value.async || own.value.generator) throw new Untranslated("this method", own);
  const inner = own.value.body.body;
  once(inner, own);
  if (own.kind === "constructor") {
    const taken = own.value.params.map(pattern);
    if (taken.length && JSON.stringify(taken[0]) !== JSON.stringify(given.map(([name]) => name))) {
      throw new Untranslated(`a constructor that does not take { ${given.map(([name]) => name).join(", ")} }`, own);
    }
    const signature = given.map(([name, value]) => `, ${named(name, own)}=${value}`).join("");
    return [`    def __init__(self${signature}):`, ...body(inner, "        ")];
  }
  const names = own.value.params.map((one) => target(one));
  return [`    def ${own.key.name}(${["self", ...names].join(", ")}):`, ...body(inner, "        ")];
}

/** Parses a module. Raises a `SyntaxError` that says where it is wrong. */
export function parsed(text: string): Program {
  return parse(text, { ecmaVersion: 2023, sourceType: "module", locations: true });
}

/** The Python file of a module whose default export is the class. */
export function asPythonClass(text: string): string {
  const program = parsed(text);
  const exported = program.body.find((one) => one.type === "ExportDefaultDeclaration");
  const found = exported?.type === "ExportDefaultDeclaration" ? exported.declaration : null;
  if (found?.type !== "ClassDeclaration" || !found.id) {
    throw new Error("expected export default class NAME { ... }");
  }
  if (found.superClass) throw new Untranslated("extends", found);
  const other = program.body.find((one) => one !== exported);
  if (other) throw new Untranslated("what stands beside the class", other);
  const fields: string[] = [];
  let given: [string, string][] = [];
  for (const one of found.body.body) {
    if (one.type === "StaticBlock") throw new Untranslated("a static block", one);
    if (one.type !== "PropertyDefinition") continue;
    if (!one.static || one.key.type !== "Identifier") throw new Untranslated("this field", one);
    if (one.key.name === "params") given = params(one.value);
    else fields.push(`    ${one.key.name} = ${one.value ? listed(expression(one.value)) : "None"}`);
  }
  const methods = found.body.body.filter((one) => one.type === "MethodDefinition");
  const parts = methods.map((one) => method(one, given).join("\n"));
  const lines = [...fields, ...(fields.length ? [""] : []), parts.join("\n\n")].join("\n");
  if (!methods.length) throw new Error("the class has no methods");
  const needs = /\bmath\./.test(lines) ? "import math\n\n\n" : "";
  return `${needs}class ${found.id.name}:\n${lines}\n`;
}

/** A list of class attributes is a tuple in Python. */
const listed = (text: string) => (text.startsWith("[") ? `(${text.slice(1, -1)}${text.length > 2 ? "," : ""})` : text);

/** Name in scenarios of the class that a module exports; its own name, without one. */
export function classNamed(text: string): string {
  const exported = parsed(text).body.find((one) => one.type === "ExportDefaultDeclaration");
  const found = exported?.type === "ExportDefaultDeclaration" ? exported.declaration : null;
  return `lab:${found?.type === "ClassDeclaration" ? found.id?.name ?? "Mine" : "Mine"}`;
}
