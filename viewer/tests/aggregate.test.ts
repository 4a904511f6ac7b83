import { describe, expect, it } from "vitest";
import { Aggregates, largestOf } from "../src/scene/aggregate";
import { nearest, place } from "../src/scene/draw";
import { layout } from "../src/scene/layout";
import { fatTree } from "./made";

const tree = fatTree(4);
const whole = new Aggregates(tree, layout(tree));

describe("a fabric at a distance", () => {
  it("is drawn node by node where there is room, and ever more coarsely where there is not", () => {
    expect([1000, 64, 40, 32, 1].map((width) => whole.coarseness(width).join(""))).toEqual(
      ["0000", "0000", "1000", "1000", "2222"]);
    const pixels = [64, 32, 1];
    const hosts = pixels.map((width) => whole.picture(whole.coarseness(width)).perTier[0]);
    // 16 hosts, 8 racks, 4 pods
    expect(hosts).toEqual([16, 8, 4]);
  });

  it("has a line for all ports between two groups, and loses no port", () => {
    const { groups, lines, lineOf } = whole.picture([2, 2, 2, 2]);
    expect(groups.map(({ nodes }) => nodes.length)).toEqual([4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
    expect(lines.flatMap(({ ports }) => ports).sort((a, b) => a - b)).toEqual([...tree.ports.keys()]);
    tree.ports.forEach((_, port) => { expect(lines[lineOf[port]!]!.ports).toContain(port); });
    // hosts of a pod and its edge switches: 4 ports up, 4 down
    expect(lines[lineOf[0]!]!.ports.length).toBe(4);
    expect(groups[0]).toMatchObject({ name: "4 hosts h0 to h3", brief: "×4" });
  });

  it("keeps ports between two single nodes apart", () => {
    const { lines } = whole.picture([0, 0, 0, 0]);
    expect(lines.length).toBe(tree.ports.length);
    expect(lines.every(({ ports }) => ports.length === 1)).toBe(true);
  });

  it("has the colour of the worst of the ports that a line stands for", () => {
    const picture = whole.picture([2, 2, 2, 2]);
    const values = new Float64Array(tree.ports.length);
    // two hosts of the first pod to their edge switches
    [values[0], values[2]] = [5, 9];
    const into = new Float64Array(picture.lines.length).fill(7);
    largestOf(picture, values, into);
    expect(into[picture.lineOf[0]!]).toBe(9);
    expect(into.reduce((sum, own) => sum + own, 0)).toBe(9);
  });

  it("keeps nodes of a tier apart that are linked to one another, and stations on their plane", () => {
    const linked = { ...tree, ports: [...tree.ports, { from: 0, to: 1 }] };
    expect(new Aggregates(linked, layout(linked)).picture([2, 2, 2, 2]).perTier).toEqual([16, 4, 4, 2]);
    const nodes = tree.nodes.map((node, i) => ({ ...node, x: i, y: 0 }));
    expect(new Aggregates({ ...tree, nodes }, layout({ ...tree, nodes })).picture([2, 2, 2, 2]).groups.length).toBe(36);
  });

  it("draws what is in sight, and finds the half of a line that is near", () => {
    const picture = whole.picture([0, 0, 0, 0]);
    const all = place(picture, (x, y) => [100 * x, 100 * y], 100, 100, 100);
    expect(all.inSight.length).toBe(tree.ports.length);
    // host h0 is drawn below at the left, its switch above it
    const host = [all.x[0]!, all.y[0]!] as const;
    expect(picture.lines[nearest(all, host[0], host[1] - 1, 5)!]!.ports).toEqual([0]);
    expect(nearest(all, 50, 500, 5)).toBeNull();
    const some = place(picture, (x, y) => [400 * x, 400 * y], 100, 100, 400);
    expect(some.inSight.length).toBeGreaterThan(0);
    expect(some.inSight.length).toBeLessThan(tree.ports.length / 2);
  });
});
