/** The packets of a traced flow as a ladder between its two ends, on the time of the panes below it. */

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { exact, seconds } from "../data/format";
import { isNumbered, kindOf, type Packet } from "../data/packets";
import type { Run } from "../data/run";
import type { Span } from "../data/stretch";
import { INKS } from "../scene/palette";
import { ladder, nextPacket, rungAt, type Box, type Rung } from "../scene/ladder";
import { cross } from "../scene/pen";
import { smallLetters, useSize } from "../scene/size";
import { coloursOf } from "./Plot";

interface Props {
  run: Run;
  flow: number;
  packets: Packet[];
  /** Which run it is, where there are two. */
  name: string;
  now_s: number;
  seen: Span;
  dark: boolean;
  onSeek: (time_s: number) => void;
  onSpan: (one_s: number, other_s: number) => void;
}

const HEIGHT = 190;
const REACH = 7;
/** As the panes have it at their right. */
const RIGHT = 22;

/** A packet in words. */
export function saidOf(packet: Packet): string {
  const { sent_s, end_s, end, back, seq, ack, payload_bytes, flags, marked, place } = packet;
  const what = payload_bytes > 0 && isNumbered(packet) ? `packet ${exact(seq)} of ${exact(payload_bytes)} bytes`
    : payload_bytes > 0 ? `bytes ${exact(seq)} to ${exact(seq + payload_bytes - 1)}`
    : flags.includes("ACK") ? `ACK of ${exact(ack)}` : flags;
  const how = end === "received" ? `received ${seconds(end_s)}`
    : end === "under way" ? "in flight at the end of the run" : `${end} at ${place}, ${seconds(end_s)}`;
  const again = kindOf(packet) === "data again" ? "retransmitted: " : "";
  return [`${again}${what}`, back ? "from the receiver" : "from the sender",
    `sent ${seconds(sent_s)}`, how, marked && `marked at ${marked}`, flags && `flags ${flags.replaceAll("|", " ")}`,
  ].filter(Boolean).join(", ");
}

function draw(context: CanvasRenderingContext2D, rungs: Rung[], chosen: number | null, dark: boolean): void {
  const [data, marked, ack, again] = coloursOf(dark);
  const { most: ink } = INKS[dark ? "dark" : "light"];
  const line = (rung: Rung, colour: string, wide: number) => {
    context.strokeStyle = colour;
    context.lineWidth = wide;
    context.beginPath();
    context.moveTo(rung.x0, rung.y0);
    context.lineTo(rung.x1, rung.y1);
    context.stroke();
  };
  for (const rung of rungs) {
    if (rung.at === chosen) line(rung, ink, 5);
    const colour = rung.mark || rung.echo ? marked : rung.kind === "data" ? data
      : rung.kind === "data again" ? again : ack;
    line(rung, colour, rung.kind === "data again" ? 2.5 : rung.kind === "data" ? 1.3 : 0.9);
  }
  // marks and losses lie above all rungs, and differ in shape
  for (const { mark, lost, x1, y1 } of rungs) {
    if (mark) {
      context.fillStyle = marked;
      context.beginPath();
      context.arc(...mark, 3, 0, 7);
      context.fill();
    }
    if (lost) cross(context, x1, y1, ink);
  }
}

export function Ladder({ run, flow, packets, name, now_s, seen, dark, onSeek, onSpan }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width } = useSize(box);
  const [chosen, setChosen] = useState<number | null>(null);
  const [hover, setHover] = useState<{ at: number; x: number; y: number } | null>(null);
  const [band, setBand] = useState<[number, number] | null>(null);
  const held = useRef<number | null>(null);
  const letters = smallLetters();
  const until_s = run.packetsUntil_s;
  const area = useMemo<Box>(() => (
    { left: Math.round(6.7 * letters), right: width - RIGHT, top: 16, bottom: HEIGHT - 16 }), [width, letters]);
  const rungs = useMemo(() => (width ? ladder(packets, seen, area) : []), [packets, seen.from_s, seen.to_s, area]);
  const timeAt = (x: number) => (
    seen.from_s + (Math.min(1, Math.max(0, (x - area.left) / (area.right - area.left)))) * (seen.to_s - seen.from_s));
  const ends = useMemo(() => {
    const row = run.flows?.values("flow").indexOf(flow as never) ?? -1;
    const node = (side: string) => run.timeline.nodes[run.flows?.get(side)?.values[row] ?? -1]?.name;
    return [node("src") ?? "sender", node("dst") ?? "receiver"] as const;
  }, [run, flow]);

  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !width) return;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, width, HEIGHT);
    context.fillStyle = dark ? INKS.dark.soft : INKS.light.soft;
    context.fillRect(area.left, area.top - 1, area.right - area.left, 1);
    context.fillRect(area.left, area.bottom, area.right - area.left, 1);
    context.font = `${letters}px system-ui, sans-serif`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(ends[0], area.left - 6, area.top, area.left - 8);
    context.fillText(ends[1], area.left - 6, area.bottom, area.left - 8);
    context.save();
    context.beginPath();
    context.rect(area.left, 0, area.right - area.left, HEIGHT);
    context.clip();
    draw(context, rungs, chosen, dark);
    context.restore();
  }, [rungs, chosen, dark, area, ends]);

  const choose = (at: number | null) => {
    if (at === null) return;
    setChosen(at);
    onSeek(packets[at]!.sent_s);
  };
  const step = (way: 1 | -1, special: boolean) => {
    // without a choice from the cursor on
    const later = packets.findIndex(({ sent_s }) => sent_s >= now_s);
    const from = chosen ?? (later < 0 ? packets.length : later) - (way > 0 ? 1 : 0);
    choose(nextPacket(packets, from, way, special));
  };
  const count = (what: (packet: Packet) => boolean) => exact(packets.filter(what).length);
  const told = useMemo(() => [
    `${count(({ payload_bytes }) => payload_bytes > 0)} of data`, `${count((packet) => packet.again)} retransmitted`,
    `${count(({ payload_bytes }) => payload_bytes === 0)} without data`,
    `${count(({ marked }) => marked !== "")} marked`,
    `${count(({ end }) => end === "dropped" || end === "lost")} lost`,
  ].join(", "), [packets]);
  const pointed = (event: MouseEvent): [number, number] => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const cursor = area.left + ((now_s - seen.from_s) / (seen.to_s - seen.from_s)) * (area.right - area.left);
  return (
    <section class="pane ladder" aria-label={`Packets of flow ${flow}`}>
      <h3>
        Packets{name && ` of ${name}`}: {told}
        {until_s !== null && `; packets sent from ${seconds(until_s)} on are not shown`}
      </h3>
      <div class="buttons">
        <button onClick={() => { step(-1, false); }}>Previous packet</button>
        <button onClick={() => { step(1, false); }}>Next packet</button>
        <button onClick={() => { step(-1, true); }}>Previous mark or loss</button>
        <button onClick={() => { step(1, true); }}>Next mark or loss</button>
      </div>
      <div class="rungs" ref={box} style={{ height: HEIGHT }}>
        <canvas
          ref={canvas} width={width * devicePixelRatio} height={HEIGHT * devicePixelRatio}
          style={{ width, height: HEIGHT }} role="img" data-rungs={rungs.length}
          aria-label={`Ladder of packets between ${ends[0]} and ${ends[1]}: ${told}. The buttons step through the `
            + "packets and describe each"}
          onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); }}
          onMouseDown={(event) => { held.current = pointed(event)[0]; }}
          onMouseMove={(event) => {
            const [x, y] = pointed(event);
            if (held.current !== null && event.buttons) {
              if (Math.abs(x - held.current) > 3) setBand([Math.min(x, held.current), Math.max(x, held.current)]);
              return;
            }
            const rung = rungAt(rungs, x, y, REACH);
            setHover(rung && { at: rung.at, x, y });
          }}
          onMouseUp={(event) => {
            const [x, y] = pointed(event);
            if (band) onSpan(timeAt(band[0]), timeAt(band[1]));
            else choose(rungAt(rungs, x, y, REACH)?.at ?? null);
            setBand(null);
            held.current = null;
          }}
          onMouseLeave={() => { setHover(null); }}
        />
        {cursor >= area.left && cursor <= area.right && <i class="cursor" style={{ left: cursor }} />}
        {band && <i class="band" style={{ left: band[0], width: band[1] - band[0] }} />}
        {hover && packets[hover.at] && (
          <div class="tip" style={{ left: Math.min(hover.x + 14, width - 300), top: hover.y + 12 }}>
            {saidOf(packets[hover.at]!)}
          </div>
        )}
      </div>
      <output>{chosen !== null && packets[chosen] ? saidOf(packets[chosen]!) : ""}</output>
      <p class="states">
        {(["data", "marked, or ACK that echoes a mark", "without data", "retransmitted"] as const).map((words, i) => (
          <span><i style={{ background: coloursOf(dark)[i] }} />{words}</span>
        ))}
        <span>● mark</span><span>× drop or loss</span>
      </p>
    </section>
  );
}
