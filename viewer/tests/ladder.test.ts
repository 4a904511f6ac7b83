import { describe, expect, it } from "vitest";
import { kindOf, marksOf, packetsOf, type Packet } from "../src/data/packets";
import { saidOf } from "../src/panes/Ladder";
import { ladder, nextPacket, rungAt } from "../src/scene/ladder";
import { list, made } from "./made";

const texts = (words: string[], ...places: number[]) => ({ values: Uint8Array.from(places), texts: words });
// of flow 3: data that arrives, its ACK, data that is marked, data that is dropped, the same again; of flow 5 one more
const columns = {
  flow: list(3, 3, 3, 3, 3, 5), back: list(0, 1, 0, 0, 0, 0), sent_s: list(0, 2, 4, 5, 8, 9),
  end_s: list(2, 4, 6, 6, NaN, 10), mark_s: list(NaN, NaN, 5, NaN, NaN, NaN), end: list(0, 0, 0, 1, 3, 0),
  hops: list(2, 2, 2, 1, 0, 2), place: texts(["", "s>h1"], 0, 0, 0, 1, 0, 0),
  marked: texts(["", "s>h1"], 0, 0, 1, 0, 0, 0), seq: list(0, 0, 100, 200, 200, 0), ack: list(0, 100, 0, 0, 0, 0),
  payload_bytes: list(100, 0, 100, 100, 100, 100), flags: texts(["ECT", "ACK|ECE", "ECT|CE"], 0, 1, 2, 0, 0, 0),
};
const run = await made({ packets: columns });
const packets = packetsOf(run, 3);
const box = { left: 10, right: 110, top: 0, bottom: 100 };

describe("packets of a flow", () => {
  it("are those of its trace, and say which bytes were sent before", async () => {
    expect(packets.map(kindOf)).toEqual(["data", "ACK", "data", "data", "data again"]);
    expect(packets.map(({ end }) => end)).toEqual(["received", "received", "received", "dropped", "under way"]);
    expect([packetsOf(run, 4), packetsOf(await made(), 3)]).toEqual([[], []]);
  });

  it("have their losses and marks at the time of these", () => {
    expect(marksOf(packets)).toEqual({ losses_s: [6], marks_s: [5] });
    expect(marksOf([])).toBeNull();
  });

  it("are told in words", () => {
    expect(saidOf(packets[1]!)).toBe(
      "ACK of 100, from the receiver, sent 2\u00a0s, received 4\u00a0s, flags ACK ECE");
    expect(saidOf(packets[3]!)).toContain("dropped at s>h1, 6\u00a0s");
    expect(saidOf(packets[4]!)).toMatch(/^retransmitted: bytes 200 to 299, .* in flight at the end of the run/);
  });
});

it("counts packets where data goes by their numbers", async () => {
  const numbered = { ...columns, flow: list(3, 3, 3, 3), back: list(0, 0, 0, 0), sent_s: list(0, 1, 2, 3),
    seq: list(0, 1, 2, 1), ack: list(0, 0, 0, 0), payload_bytes: list(1460, 1460, 1460, 1460),
    flags: texts(["NUMBERED"], 0, 0, 0, 0) };
  const own = await made({ packets: numbered });
  const found = packetsOf(own, 3);
  expect(found.map(kindOf)).toEqual(["data", "data", "data", "data again"]);
  expect(saidOf(found[2]!)).toContain("packet 2 of 1,460 bytes");
});

describe("a ladder of packets", () => {
  const rungs = ladder(packets, { from_s: 0, to_s: 10 }, box);

  it("has a rung a packet, from its sender's line towards the other", () => {
    expect(rungs[0]).toMatchObject({ x0: 10, y0: 0, x1: 30, y1: 100, kind: "data", lost: false, mark: null });
    expect(rungs[1]).toMatchObject({ x0: 30, y0: 100, x1: 50, y1: 0, kind: "ACK", echo: true });
    // marked midway in time
    expect(rungs[2]!.mark).toEqual([60, 50]);
    // dropped at the second of two ports
    expect(rungs[3]).toMatchObject({ x1: 70, y1: 50, lost: true });
    expect(rungs[4]!.x1).toBe(110);
  });

  it("has those that a stretch of time touches", () => {
    expect(ladder(packets, { from_s: 2.5, to_s: 4.5 }, box).map(({ at }) => at)).toEqual([1, 2]);
  });

  it("has one of those alike, and every mark and loss", () => {
    const copies = (packet: Packet) => Array.from({ length: 50 }, (_, i) => ({ ...packet, sent_s: i * 1e-6 }));
    const many = [...copies(packets[0]!), ...copies(packets[3]!), ...copies(packets[2]!)];
    expect(ladder(many, { from_s: 0, to_s: 10 }, box).length).toBe(101);
  });

  it("finds a rung under the pointer, and the next mark or loss", () => {
    expect(rungAt(rungs, 21, 50, 5)?.at).toBe(0);
    expect(rungAt(rungs, 85, 80, 5)).toBeNull();
    expect([nextPacket(packets, -1, 1, true), nextPacket(packets, 2, 1, true), nextPacket(packets, 3, 1, true)])
      .toEqual([2, 3, null]);
    expect([nextPacket(packets, 2, -1, false), nextPacket(packets, 0, -1, false)]).toEqual([1, null]);
  });
});
