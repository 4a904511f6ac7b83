/** The engine as WebAssembly (`crates/web`): a request in JSON gives a reply in JSON, and bytes of tables. */

import { objectsOf, type Class, type Objects, type Protocol } from "./classes";

/** Functions of the module, as `crates/web/src/abi.rs` has them. */
interface Exports {
  memory: WebAssembly.Memory;
  input(length: number): number;
  event(): number;
  ask(): void;
  reply(part: number): number;
  reply_length(part: number): number;
}

export interface Progress {
  /** Part of the set-up that is done, 0 to 1. */
  setUp: number;
  now_s: number;
  end_s: number;
  hops: number;
  /** Bytes that receivers have delivered, and as of when they were counted; of runs with a timeline. */
  delivered?: { at_s: number; bytes: number };
}

/** A scenario and its changes, in the order in which they apply. */
export interface Asked {
  /** Name of a built-in scenario, or of `text`. */
  name: string;
  text?: string;
  /** Texts of its files, by their names in it. */
  files?: Record<string, string>;
  /** Keys and values as on the command line. */
  set?: [string, string][];
  controller?: string;
  seed?: number;
  /** Most bytes of memory of a run. */
  most_bytes?: number;
}

export interface Item {
  name: string;
  what: string;
}

/** A key of a description, or a parameter. */
export interface Key {
  name: string;
  expected: string;
  words: [string, string][];
  unit: string;
  default: string | null;
  required: boolean;
  doc: string;
  source: string;
}

export interface Description {
  kind: string;
  name: string;
  title: string;
  what: string;
  source: string;
  differences: string[];
  keys: Key[];
  tables: { of: string[]; keys: Key[] }[];
  state: [string, string][];
  text: string;
}

/** What a scenario is, without running it. Without a text it takes more memory than asked for. */
export interface Checked {
  name: string;
  memory: number;
  seed: number;
  text?: string;
  hash: string;
  notes: string[];
  governing: string[];
  hosts: number;
  switches: number;
  ports: number;
  flows: number;
  host_rate_bps: number | null;
  duration_s: number;
  hops: number | null;
}

/** A wrong key of a scenario. */
export interface Problem {
  key: string;
  value: string | null;
  words: string;
  suggestion: string | null;
}

/** The engine refuses a request. */
export class Refused extends Error {
  constructor(message: string, readonly problems: Problem[] = []) {
    super(message);
  }
}

type Kind = "u64" | "u32" | "f64" | "text";

/** A column of a table: `values` of texts are places in `names`; `valid` is 0 where a value is missing. */
export interface TableColumn {
  name: string;
  unit: string;
  doc: string;
  kind: Kind;
  values: BigUint64Array | Uint32Array | Float64Array;
  valid: Uint8Array | null;
  names: string[] | null;
}

export interface Table {
  rows: number;
  columns: TableColumn[];
  /** Bytes of all columns. */
  bytes: ArrayBuffer;
}

interface ColumnHead {
  name: string;
  unit: string;
  doc: string;
  kind: Kind;
  at: number;
  valid?: number;
  names?: string[];
}

/** One instance of the engine. It runs in the thread that calls it: a worker. */
export class Engine {
  private readonly decoder = new TextDecoder();
  private readonly encoder = new TextEncoder();
  private readonly out: Exports;
  private heard: (progress: Progress) => boolean = () => true;
  private objects: Objects[] = [];
  private readonly protocol: Protocol;
  readonly version: string;
  readonly tables: string[];

  constructor(module: WebAssembly.Module) {
    const imports = {
      incast: {
        progress: (setUp: number, now_s: number, end_s: number, hops: number, at_s: number, bytes: number) => (
          this.heard({ setUp, now_s, end_s, hops, ...(bytes >= 0 && { delivered: { at_s, bytes } }) }) ? 1 : 0),
        call: (of: number, flow: number, method: number) => this.called(of, flow, method),
        panicked: (at: number, length: number) => { throw new Error(this.textAt(at, length)); },
      },
    };
    this.out = new WebAssembly.Instance(module, imports).exports as unknown as Exports;
    const about = this.ask<{ version: string; protocol: Protocol; tables: string[] }>({ do: "version" });
    ({ version: this.version, protocol: this.protocol, tables: this.tables } = about);
  }

  /** Bytes of the engine's memory. */
  get held(): number {
    return this.out.memory.buffer.byteLength;
  }

  schema(): string {
    return this.ask<{ schema: string }>({ do: "schema" }).schema;
  }

  list(kind: string): Item[] {
    return this.ask<{ items: Item[] }>({ do: "list", kind }).items;
  }

  describe(kind: string, name: string): Description {
    return this.ask<{ item: Description }>({ do: "describe", kind, name }).item;
  }

  /** Text of a built-in scenario. */
  text(name: string): string {
    return this.ask<{ text: string }>({ do: "text", name }).text;
  }

  /** Names of the files that a scenario names. */
  files(scenario: Asked): string[] {
    return this.ask<{ files: string[] }>({ do: "files", scenario }).files;
  }

  check(scenario: Asked): Checked {
    return this.ask<Checked>({ do: "check", scenario });
  }

  /** Classes that scenarios may name from now on. */
  register(classes: Class[]): void {
    this.ask({ do: "classes", classes: classes.map(({ about }) => about) });
    this.objects = classes.map((own) => objectsOf(own, this.protocol));
  }

  /** Runs a scenario to its end: its `summary.json`, and its text with every default written out. */
  run(scenario: Asked, heard: (progress: Progress) => boolean = () => true): { summary: string; text: string } {
    this.heard = heard;
    this.objects.forEach((own) => { own.clear(); });
    return this.ask<{ summary: string; text: string }>({ do: "run", scenario });
  }

  /** A table of the last run. */
  table(name: string): Table {
    const { rows, columns } = this.ask<{ rows: number; columns: ColumnHead[] }>({ do: "table", name });
    const at = this.out.reply(1);
    const bytes = this.out.memory.buffer.slice(at, at + this.out.reply_length(1)) as ArrayBuffer;
    return { rows, bytes, columns: columns.map((head) => columnOf(head, bytes, rows)) };
  }

  /** `timeline.json` of the last run; null without one. */
  timeline(): string | null {
    return this.ask<{ timeline: string | null }>({ do: "timeline" }).timeline;
  }

  private write(text: string): void {
    const bytes = this.encoder.encode(text);
    const at = this.out.input(bytes.length);
    new Uint8Array(this.out.memory.buffer, at, bytes.length).set(bytes);
  }

  private textAt(at: number, length: number): string {
    return this.decoder.decode(new Uint8Array(this.out.memory.buffer, at, length));
  }

  private ask<Reply>(request: Record<string, unknown>): Reply {
    this.write(JSON.stringify(request));
    this.out.ask();
    const reply = JSON.parse(this.textAt(this.out.reply(0), this.out.reply_length(0))) as Reply & {
      error?: string; problems?: Problem[];
    };
    if (reply.problems) throw new Refused(reply.problems.map(({ words }) => words).join("\n"), reply.problems);
    if (reply.error !== undefined) throw new Refused(reply.error);
    return reply;
  }

  private called(of: number, flow: number, method: number): number {
    const own = this.objects[of]!;
    try {
      own.call(flow, method, new Float64Array(this.out.memory.buffer, this.out.event(), own.most));
      return 0;
    } catch (error) {
      this.write(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      return 1;
    }
  }
}

function columnOf(head: ColumnHead, bytes: ArrayBuffer, rows: number): TableColumn {
  const { name, unit, doc, kind, at, names } = head;
  const values = kind === "f64" ? new Float64Array(bytes, at, rows)
    : kind === "u64" ? new BigUint64Array(bytes, at, rows) : new Uint32Array(bytes, at, rows);
  const valid = head.valid === undefined ? null : new Uint8Array(bytes, head.valid, rows);
  return { name, unit, doc, kind, values, valid, names: names ?? null };
}

/** Values of a column as numbers; NaN where one is missing. */
export function numbersOf(column: TableColumn): Float64Array {
  const { values, valid } = column;
  const found = new Float64Array(values.length);
  for (let i = 0; i < found.length; i++) found[i] = valid && !valid[i] ? NaN : Number(values[i]);
  return found;
}
