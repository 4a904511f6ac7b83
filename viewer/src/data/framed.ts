/** Rows of frames, in blocks of ports or flows that lie side by side: what is shown of one needs its block alone. */

import { Columns, type Numbers, type Source } from "./unpack";

export interface InBlocks {
  /** Ports or flows of a block; the last block has those beyond too. */
  size: number;
  blocks: number;
  /** Where the part of the first block is; those of the others follow it. */
  columns: Record<string, number>;
}

export class Framed {
  /** Columns that are read of all blocks. */
  private readonly whole = new Set<string>();

  private constructor(readonly blocks: Columns[], private readonly size: number) {}

  /** Rows that are read from a source. */
  static told({ size, blocks, columns }: InBlocks, source: Source, called = ""): Framed {
    const parts = (block: number) => (
      Object.fromEntries(Object.entries(columns).map(([name, at]) => [name, at + block])));
    return new Framed(
      Array.from({ length: blocks }, (_, block) => new Columns(parts(block), source, null, called)), size);
  }

  /** Rows that are all there, in one block. */
  static of(block: Columns): Framed {
    return new Framed([block], Infinity);
  }

  has(name: string): boolean {
    return this.blocks[0]!.has(name);
  }

  /** The block of a port or flow. */
  of(whose: number): Columns {
    return this.blocks[Math.min(this.blocks.length - 1, Math.floor(whose / this.size))]!;
  }

  /** Those of these columns that are still to be read, of all blocks or of that of one port or flow. */
  unread(names: readonly string[], whose?: number): string[] {
    return names.filter((name) => {
      if (this.whole.has(name)) return false;
      const some = this.those(whose).some((block) => block.unread([name]).length);
      if (!some && whose === undefined) this.whole.add(name);
      return some;
    });
  }

  async read(names: readonly string[], whose?: number): Promise<void> {
    await Promise.all(this.those(whose).map((block) => block.read(names)));
  }

  private those(whose: number | undefined): Columns[] {
    return whose === undefined ? this.blocks : [this.of(whose)];
  }

  /** Whether a frame has rows. */
  hasRows(frame: number): boolean {
    return this.blocks.some((block) => {
      const starts = block.values("starts");
      return starts[frame] !== starts[frame + 1];
    });
  }
}

/** The row between `from` and `to` in which an ascending list has a value; -1 where it has none. */
export function find(list: Numbers, from: number, to: number, value: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low < to && list[low] === value ? low : -1;
}
