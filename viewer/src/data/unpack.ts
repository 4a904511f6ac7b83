/** Columns as python/incast/view/packing.py packs them: deflated bytes, of one significance together. */

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;
export type Kind = "u8" | "u16" | "u32" | "f64";

/** What the head of a column says of its values. */
interface Head {
  kind: Kind;
  length: number;
  differences?: true;
  /** The values that this column has places of, whose bytes follow. */
  of?: Head;
  /** How long the list of texts is that this column has places of; it stands last. */
  texts?: number;
}

export interface Column {
  values: Numbers;
  texts?: string[];
}

/** Where parts lie: base64 in script elements of a file, bytes at the server of a page. */
export type Source = (at: number) => string | Promise<string | Uint8Array<ArrayBuffer>>;

export class Damaged extends Error {}

const WIDTH: Record<Kind, number> = { u8: 1, u16: 2, u32: 4, f64: 8 };

/** Newer browsers read base64 by themselves. */
const fromBase64 = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;

function decoded(text: string): Uint8Array<ArrayBuffer> {
  if (fromBase64) return fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The bytes of a part. What its source says of a failure is no damage. */
async function inflated(source: Source, at: number): Promise<Uint8Array> {
  const coming = source(at);
  const there = typeof coming === "string" ? coming : await coming;
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    const stream = new DecompressionStream("deflate");
    const writer = stream.writable.getWriter();
    // what is wrong with the bytes is told by the reader too
    const bytes = typeof there === "string" ? decoded(there) : there;
    const written = writer.write(bytes).then(() => writer.close()).catch(() => undefined);
    const reader = stream.readable.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      length += part.value.length;
    }
    await written;
  } catch (error) {
    throw new Damaged(`a column cannot be unpacked (${String(error)})`);
  }
  const whole = new Uint8Array(length);
  let to = 0;
  for (const part of parts) {
    whole.set(part, to);
    to += part.length;
  }
  return whole;
}

/** Put the planes of bytes together again, and add up differences. */
export function joined(planes: Uint8Array, { kind, length, differences }: Head): Numbers {
  const width = WIDTH[kind];
  if (planes.length !== length * width) {
    throw new Damaged(`a column has ${planes.length} bytes, and ${length} values of ${width} bytes were expected`);
  }
  const bytes = new Uint8Array(length * width);
  for (let plane = 0; plane < width; plane++) {
    const from = plane * length;
    for (let i = 0, to = plane; i < length; i++, to += width) bytes[to] = planes[from + i]!;
  }
  const buffer = bytes.buffer;
  const values =
    kind === "u8" ? bytes : kind === "u16" ? new Uint16Array(buffer)
      : kind === "u32" ? new Uint32Array(buffer) : new Float64Array(buffer);
  // sums wrap as the differences did
  if (differences) for (let i = 1; i < length; i++) values[i] = values[i]! + values[i - 1]!;
  return values;
}

/** A column from its bytes: the length of its head, the head, its values, and what they are places of. */
export function column(bytes: Uint8Array): Column {
  const told = 4 + (bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true));
  const head = parsed(bytes.subarray(4, told)) as Head;
  let from = told;
  const values = (own: Head) => joined(bytes.subarray(from, from += own.length * WIDTH[own.kind]), own);
  const places = values(head);
  if (head.of) return { values: chosen(places, values(head.of)) };
  if (head.texts === undefined) return { values: places };
  return { values: places, texts: parsed(bytes.subarray(from, from + head.texts)) as string[] };
}

function chosen(places: Numbers, values: Numbers): Numbers {
  const found = new Float64Array(places.length);
  for (let i = 0; i < places.length; i++) found[i] = values[places[i]!]!;
  return found;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new Damaged(`a text cannot be read (${String(error)})`);
  }
}

export async function json(source: Source, at: number): Promise<unknown> {
  return parsed(await inflated(source, at));
}

/**
 * Columns of a table. Each is read when something that shows it needs it: until then its bytes stay in the file or at
 * the server.
 */
export class Columns {
  private readonly there = new Map<string, Column>();
  private readonly coming = new Map<string, Promise<void>>();

  /** `rows` is null of a table that is told of before it is made; errors name the table as `called`. */
  constructor(
    private readonly parts: Record<string, number>, private readonly source: Source,
    readonly rows: number | null = null, private readonly called = "",
  ) {}

  /** A table whose columns are all there. */
  static of(columns: Record<string, Column>, rows: number | null = null): Columns {
    const table = new Columns(Object.fromEntries(Object.keys(columns).map((name) => [name, 0])), () => "", rows);
    for (const [name, own] of Object.entries(columns)) table.there.set(name, own);
    return table;
  }

  /** Whether the table has a column, read or not. */
  has(name: string): boolean {
    return Object.hasOwn(this.parts, name);
  }

  /** Those of these columns that are still to be read. */
  unread(names: readonly string[]): string[] {
    return names.filter((name) => this.has(name) && !this.there.has(name));
  }

  /** Read those of these columns that the table has. */
  async read(names: readonly string[]): Promise<void> {
    await Promise.all(this.unread(names).map((name) => this.one(name)));
  }

  private one(name: string): Promise<void> {
    let coming = this.coming.get(name);
    if (!coming) {
      coming = inflated(this.source, this.parts[name]!).then((bytes) => {
        const found = column(bytes);
        if (this.rows !== null && found.values.length !== this.rows) {
          throw new Damaged(`it has ${found.values.length} rows of ${this.rows}`);
        }
        this.there.set(name, found);
      }).catch((error: unknown) => {
        // a server may answer again, what is damaged stays so
        if (error instanceof Damaged) {
          throw new Damaged(`column ${name}${this.called && ` of ${this.called}`}: ${error.message}`);
        }
        this.coming.delete(name);
        throw error;
      });
      this.coming.set(name, coming);
    }
    return coming;
  }

  /** A column that was read; undefined of one that the table lacks. */
  get(name: string): Column | undefined {
    const found = this.there.get(name);
    if (!found && this.has(name)) throw new Error(`column ${name} is shown and was not read`);
    return found;
  }

  /** The values of a column that was read; none of one that the table lacks. */
  values(name: string): Numbers {
    return this.get(name)?.values ?? NONE;
  }
}

const NONE = new Uint8Array(0);

/** The text of a row of a column of texts. */
export function text(column: Column | undefined, row: number): string {
  return column?.texts?.[column.values[row]!] ?? "";
}
