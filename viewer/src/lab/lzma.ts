/** Unpacks LZMA (the format `.lzma` of xz): a fifth smaller than gzip for the engine, and no browser unpacks it. */

const [STATES, POSITIONS, LITERAL] = [12, 16, 0x300];
/** Probability of one half, of 11 bits; and how fast one adapts. */
const [HALF, BITS, SPEED] = [1024, 11, 5];
const half = (count: number) => new Uint16Array(count).fill(HALF);

/** Bits of a binary arithmetic coder. */
class Coder {
  private range = 0xffffffff;
  private code = 0;

  constructor(private readonly bytes: Uint8Array, private at: number) {
    for (let i = 0; i < 5; i++) this.code = (this.code << 8 | this.bytes[this.at++]!) >>> 0;
  }

  /** A bit by a probability, which adapts. */
  bit(of: Uint16Array, at: number): number {
    const chance = of[at]!;
    const bound = (this.range >>> BITS) * chance;
    let bit = 0;
    if (this.code < bound) {
      this.range = bound;
      of[at] = chance + ((2048 - chance) >>> SPEED);
    } else {
      this.range -= bound;
      this.code -= bound;
      of[at] = chance - (chance >>> SPEED);
      bit = 1;
    }
    if (this.range < 0x1000000) this.shift();
    return bit;
  }

  /** So many bits without a probability. */
  direct(count: number): number {
    let found = 0;
    for (; count > 0; count--) {
      this.range >>>= 1;
      const bit = this.code >= this.range ? 1 : 0;
      if (bit) this.code -= this.range;
      if (this.range < 0x1000000) this.shift();
      found = (found << 1 | bit) >>> 0;
    }
    return found;
  }

  /** A number of so many bits, the highest first. */
  tree(of: Uint16Array, from: number, bits: number): number {
    let node = 1;
    for (let i = 0; i < bits; i++) node = node << 1 | this.bit(of, from + node);
    return node - (1 << bits);
  }

  /** The same, the lowest first. */
  reverse(of: Uint16Array, from: number, bits: number): number {
    let [node, found] = [1, 0];
    for (let i = 0; i < bits; i++) {
      const bit = this.bit(of, from + node);
      node = node << 1 | bit;
      found |= bit << i;
    }
    return found;
  }

  private shift(): void {
    this.range = (this.range << 8) >>> 0;
    this.code = (this.code << 8 | this.bytes[this.at++]!) >>> 0;
  }
}

/** Lengths of matches, 2 to 273. */
class Lengths {
  private readonly choice = half(2);
  private readonly low = half(POSITIONS << 3);
  private readonly middle = half(POSITIONS << 3);
  private readonly high = half(256);

  next(coder: Coder, position: number): number {
    if (!coder.bit(this.choice, 0)) return 2 + coder.tree(this.low, position << 3, 3);
    if (!coder.bit(this.choice, 1)) return 10 + coder.tree(this.middle, position << 3, 3);
    return 18 + coder.tree(this.high, 0, 8);
  }
}

/** Unpacks bytes whose head says how many they become. */
export function unlzma(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new DataView(packed.buffer, packed.byteOffset, 13);
  const properties = head.getUint8(0);
  const [lc, lp, pb] = [properties % 9, Math.floor(properties / 9) % 5, Math.floor(properties / 45)];
  const out = new Uint8Array(head.getUint32(5, true));
  const coder = new Coder(packed, 13);
  const [isMatch, isLong] = [half(STATES * POSITIONS), half(STATES * POSITIONS)];
  const [isRep, isRep0, isRep1, isRep2] = [half(STATES), half(STATES), half(STATES), half(STATES)] as const;
  const literals = half(LITERAL << (lc + lp));
  const [slots, special, align] = [half(4 << 6), half(128), half(16)] as const;
  const [matches, repeats] = [new Lengths(), new Lengths()];
  const distances = [0, 0, 0, 0];
  let [at, state] = [0, 0];

  const literal = () => {
    const before = at ? out[at - 1]! : 0;
    const from = LITERAL * (((at & ((1 << lp) - 1)) << lc) + (before >> (8 - lc)));
    let node = 1;
    if (state >= 7) {
      let match = out[at - distances[0]! - 1]!;
      while (node < 0x100) {
        const expected = match >> 7 & 1;
        match <<= 1;
        const bit = coder.bit(literals, from + ((1 + expected) << 8) + node);
        node = node << 1 | bit;
        if (bit !== expected) break;
      }
    }
    while (node < 0x100) node = node << 1 | coder.bit(literals, from + node);
    out[at++] = node & 0xff;
    state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
  };
  const distance = (length: number) => {
    const slot = coder.tree(slots, Math.min(length - 2, 3) << 6, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const high = ((2 | slot & 1) << bits) >>> 0;
    if (slot < 14) return high + coder.reverse(special, high - slot, bits);
    return high + coder.direct(bits - 4) * 16 + coder.reverse(align, 0, 4);
  };
  /** One of the last four distances, which becomes the first; false for a single byte at the latest. */
  const repeated = (position: number): boolean => {
    if (!coder.bit(isRep0, state)) {
      if (coder.bit(isLong, state * POSITIONS + position)) return true;
      state = state < 7 ? 9 : 11;
      out[at] = out[at - distances[0]! - 1]!;
      at++;
      return false;
    }
    const which = !coder.bit(isRep1, state) ? 1 : !coder.bit(isRep2, state) ? 2 : 3;
    distances.unshift(...distances.splice(which, 1));
    return true;
  };

  while (at < out.length) {
    const position = at & ((1 << pb) - 1);
    if (!coder.bit(isMatch, state * POSITIONS + position)) {
      literal();
      continue;
    }
    let length: number;
    if (coder.bit(isRep, state)) {
      if (!repeated(position)) continue;
      length = repeats.next(coder, position);
      state = state < 7 ? 8 : 11;
    } else {
      length = matches.next(coder, position);
      state = state < 7 ? 7 : 10;
      distances.pop();
      distances.unshift(distance(length));
    }
    const from = at - distances[0]! - 1;
    if (from < 0) throw new Error("the engine in this page is damaged");
    for (let i = 0; i < length && at < out.length; i++) out[at++] = out[from + i]!;
  }
  return out;
}
