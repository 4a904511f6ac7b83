/** Changes of a scenario's text where the values stand, so that comments and order stay. */

/** Where values stand, by the paths of their keys, and where each table's last key ends. */
interface Places {
  values: Map<string, [from: number, to: number]>;
  ends: Map<string, number>;
}

/** Reads keys and values of TOML with their places. Raises an error where it is none. */
class Reader {
  private at = 0;
  readonly values: Places["values"] = new Map();
  readonly ends: Places["ends"] = new Map([["", 0]]);
  /** Number of entries of each array of tables. */
  private readonly counts = new Map<string, number>();

  constructor(private readonly text: string) {
    let table = "";
    for (this.skip(); this.at < text.length; this.skip()) {
      if (text[this.at] === "[") table = this.head();
      else {
        this.pair(table);
        this.ends.set(table, this.at);
      }
    }
  }

  private skip(pattern = /(?:[\s]|#[^\n]*)*/y): void {
    pattern.lastIndex = this.at;
    this.at += pattern.exec(this.text)![0].length;
  }

  private blanks(): void {
    this.skip(/[ \t]*/y);
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) throw new Error(`no TOML at ${this.at}`);
    this.at += found.length;
    return found;
  }

  /** A key of several words. */
  private key(): string[] {
    const words: string[] = [];
    do {
      this.blanks();
      const word = this.take(/[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y);
      words.push(word.startsWith('"') ? JSON.parse(word) as string : word.replaceAll("'", ""));
      this.blanks();
    } while (this.text[this.at] === "." && this.at++ >= 0);
    return words;
  }

  /** The path of a heading's table; of an entry of an array with its number. */
  private head(): string {
    const [open] = /^\[\[?/.exec(this.text.slice(this.at, this.at + 2))!;
    this.at += open.length;
    const words = this.key();
    this.take(open === "[[" ? /\]\]/y : /\]/y);
    let path = "";
    words.forEach((word, i) => {
      path = path ? `${path}.${word}` : word;
      if (open === "[[" && i === words.length - 1) this.counts.set(path, (this.counts.get(path) ?? -1) + 1);
      const entry = this.counts.get(path);
      if (entry !== undefined) path = `${path}.${entry}`;
    });
    this.ends.set(path, this.at);
    return path;
  }

  /** A key and its value; those within an array have no path. */
  private pair(table: string | null): void {
    const words = this.key();
    const path = table === null ? null : [table, ...words].filter(Boolean).join(".");
    this.take(/=[ \t]*/y);
    const from = this.at;
    this.value(path);
    if (path === null) return;
    if (this.values.has(path)) throw new Error(`${path} twice`);
    this.values.set(path, [from, this.at]);
  }

  private value(path: string | null): void {
    const first = this.text[this.at];
    if (first === "{" || first === "[") {
      this.at++;
      for (this.skip(); this.text[this.at] !== (first === "{" ? "}" : "]"); this.skip()) {
        if (this.at >= this.text.length) throw new Error("no end");
        if (this.text[this.at] === ",") this.at++;
        else if (first === "{") this.pair(path);
        else this.value(null);
      }
      this.at++;
    } else {
      this.take(/"""[^]*?(?<!\\)"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s,\]}#]+/y);
    }
  }
}

/** Whether a value is a table of others, each of which has a place of its own. */
const isTable = (text: string, [from]: [number, number]) => text[from] === "{";

/** Paths and values of a text; nothing of a text that cannot be read. */
function read(text: string): Reader | null {
  try {
    return new Reader(text);
  } catch {
    return null;
  }
}

/** Values that a text has and another has not, by path; null if some are only in the other. */
function changes(before: string, after: string): [string, string][] | null {
  const [old, now] = [read(before), read(after)];
  if (!old || !now) return null;
  const plain = (text: string, { values }: Reader) => new Map([...values].flatMap(([path, place]) => (
    isTable(text, place) ? [] : [[path, text.slice(...place)] as const])));
  const [had, has] = [plain(before, old), plain(after, now)];
  if ([...had.keys()].some((path) => !has.has(path))) return null;
  return [...has].filter(([path, value]) => had.get(path) !== value);
}

/** A text with one value set; null where its table is not there. */
function withValue(text: string, path: string, value: string): string | null {
  const found = read(text);
  if (!found) return null;
  const place = found.values.get(path);
  if (place) return isTable(text, place) ? null : text.slice(0, place[0]) + value + text.slice(place[1]);
  const cut = path.lastIndexOf(".");
  const [table, key] = [path.slice(0, Math.max(0, cut)), path.slice(cut + 1)];
  const line = `${/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key)} = ${value}`;
  const inline = found.values.get(table);
  if (inline) {
    if (!isTable(text, inline)) return null;
    const inner = text.slice(inline[0] + 1, inline[1] - 1).trimEnd();
    return `${text.slice(0, inline[0])}{${inner}${inner ? "," : ""} ${line} }${text.slice(inline[1])}`;
  }
  const end = found.ends.get(table);
  if (end === undefined) return null;
  // behind the comment of the line
  const rest = /^[^\n]*/.exec(text.slice(end))![0].length;
  return end ? `${text.slice(0, end + rest)}\n${line}${text.slice(end + rest)}` : `${line}\n${text}`;
}

/**
 * A text with the changes between two others, each made where its value stands: comments and order stay. Null where a
 * change has no place in it.
 */
export function edited(text: string, before: string, after: string): string | null {
  let found: string | null = text;
  for (const [path, value] of changes(before, after) ?? [["", ""]]) {
    found = found === null || !path ? null : withValue(found, path, value);
  }
  return found;
}
