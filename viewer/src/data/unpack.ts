/** Columns as python/incast/view/packing.py packs them: deflated bytes, of one significance together. */

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;
export type Kind = "u8" | "u16" | "u32" | "f64";

export interface Packed {
  at: number;
  kind: Kind;
  length: number;
  differences: boolean;
  /** The values that this column has places of. */
  of?: Packed;
  /** The text that holds the list of texts that this column has places of. */
  texts?: number;
}

export interface Column {
  values: Numbers;
  texts?: string[];
}

/** Where columns lie: base64 in script elements of a file, bytes at the server of a page. */
export type Source = (at: number) => string | Promise<ArrayBuffer>;

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

/** The bytes of a column as they come: what its source says of a failure is no damage. */
async function packedBytes(source: Source, at: number): Promise<string | Uint8Array<ArrayBuffer>> {
  const column = source(at);
  return typeof column === "string" ? column : new Uint8Array(await column);
}

async function inflated(there: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
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
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Put the planes of bytes together again, and add up differences. */
export function joined(planes: Uint8Array, kind: Kind, length: number, differences: boolean): Numbers {
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

export async function numbers(source: Source, packed: Packed): Promise<Numbers> {
  const planes = await inflated(await packedBytes(source, packed.at));
  const own = joined(planes, packed.kind, packed.length, packed.differences);
  if (!packed.of) return own;
  const values = await numbers(source, packed.of);
  const chosen = new Float64Array(own.length);
  for (let i = 0; i < own.length; i++) chosen[i] = values[own[i]!]!;
  return chosen;
}

export async function json(source: Source, at: number): Promise<unknown> {
  const bytes = await inflated(await packedBytes(source, at));
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new Damaged(`a text cannot be read (${String(error)})`);
  }
}

/**
 * Columns of a table. Each is read when something that shows it needs it: until then its bytes stay in the file or at
 * the server.
 */
export class Columns {
  private readonly there = new Map<string, Column>();
  private readonly coming = new Map<string, Promise<void>>();

  constructor(private readonly packed: Record<string, Packed>, private readonly source: Source) {}

  /** Whether the table has a column, read or not. */
  has(name: string): boolean {
    return Object.hasOwn(this.packed, name);
  }

  /** How many values a column has; 0 without it. */
  lengthOf(name: string): number {
    return this.has(name) ? this.packed[name]!.length : 0;
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
      coming = column(this.source, this.packed[name]!).then((found) => { this.there.set(name, found); })
        .catch((error: unknown) => {
          // a server may answer again, what is damaged stays so
          if (!(error instanceof Damaged)) this.coming.delete(name);
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

async function column(source: Source, packed: Packed): Promise<Column> {
  const values = numbers(source, packed);
  if (packed.texts === undefined) return { values: await values };
  const [own, texts] = await Promise.all([values, json(source, packed.texts)]);
  return { values: own, texts: texts as string[] };
}

/** The text of a row of a column of texts. */
export function text(column: Column | undefined, row: number): string {
  return column?.texts?.[column.values[row]!] ?? "";
}
