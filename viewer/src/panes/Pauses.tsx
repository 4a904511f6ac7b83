/** Who paused whom: the tree from a victim to the ports that began it, at the cursor or over time, and deadlocks. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { flowsOf, ofFlow, ofPort, victimOf, type Branch, type Explanation } from "../data/blame";
import { counted, seconds, short, way } from "../data/format";
import { BLAMED } from "../data/need";
import { pausesOf } from "../data/pauses";
import { arrivalsSaid, beginnings, heldSaid, isRoot, pausedSaid, sentenceOf, sinceOf, subjectOf,
  whySaid } from "../data/reasons";
import type { Run } from "../data/run";
import type { Span } from "../data/stretch";
import { readingSaid, useRead } from "../scene/read";
import { Ring } from "./Ring";

interface Props {
  run: Run;
  port: number | null;
  flow: number | null;
  time_s: number;
  span: Span | null;
  /** Its name, where another run is beside it. */
  name: string;
  onPin: (port: number) => void;
}

type Whose = "victim" | "flow" | "port";
type When = "now" | "range" | "run";

/** Ports that are named at once. */
const NAMED = 6;

export function PausesTab(props: Props) {
  const { run } = props;
  const read = useRead(run, BLAMED, run);
  if (read !== "ready") return <p class="told">{readingSaid(read)}</p>;
  return <Blamed {...props} />;
}

function Blamed({ run, port, flow, time_s, span, name, onPin }: Props) {
  const pauses = pausesOf(run);
  const victim = useMemo(() => victimOf(run), [run]);
  const own = flow === null ? null : flowsOf(run).get(flow);
  const isVictim = own !== null && victim?.flow?.number === own.number;
  const [whose, setWhose] = useState<Whose>(own && !isVictim ? "flow" : "victim");
  const [when, setWhen] = useState<When>(span ? "range" : "run");
  // what is chosen meanwhile is what is asked about; a port is, once it is asked for
  useEffect(() => { setWhose(own && !isVictim ? "flow" : "victim"); }, [flow]);
  useEffect(() => { setWhen((now) => (span ? "range" : now === "range" ? "run" : now)); }, [span === null]);
  const subject = whose === "flow" && !own || whose === "port" && port === null ? "victim" : whose;
  const frame = run.frameOf(time_s);
  const [from_s, to_s] = [run.timeOf(frame), Math.min(run.end_s, run.timeOf(frame + 1))];
  const window = when === "now" ? { from_s, to_s } : when === "range" ? span : null;
  const found = useMemo((): Explanation | null => {
    if (subject === "port") return ofPort(run, port!, window);
    if (subject === "flow") return ofFlow(run, own!, window);
    if (!victim || !window) return victim;
    return victim.flow ? ofFlow(run, victim.flow, window) : ofPort(run, victim.port!, window);
  }, [run, subject, subject === "port" ? port : null, own, window?.from_s, window?.to_s]);
  if (!victim || !found) return <p class="told">No pause took effect in this run.</p>;
  const said = { now: `in the frame at ${seconds(from_s)}`, range: "in the time range",
    run: "" }[when];
  const paused = when === "now" ? pauses.within(from_s, to_s) : [];
  const rings = pauses.rings.filter((ring) => when !== "now" || sinceOf(pauses, ring) < to_s);
  const choices: [Whose, string][] = [
    ["victim", victim.flow ? `Victim: flow ${victim.flow.number}` : `Victim: ${way(run.names[victim.port!]!)}`],
    ...(own && !isVictim ? [["flow", `Flow ${own.number}`] as [Whose, string]] : []),
    ...(port !== null ? [["port", `Port ${way(run.names[port]!)}`] as [Whose, string]] : []),
  ];
  const times: [When, string][] = [["now", "At the cursor"],
    ...(span ? [["range", "Time range"] as [When, string]] : []), ["run", "Whole run"]];
  return (
    <section aria-label="Who paused whom">
      <div class="choices">
        <h2>Who paused whom{name && `: ${name}`}</h2>
        {choices.length > 1 && <Choices label="Who waits" all={choices} shown={subject} onChoose={setWhose} />}
        <Choices label="When" all={times} shown={when} onChoose={setWhen} />
      </div>
      {rings.map((ring) => <Ring run={run} pauses={pauses} ring={ring} pinned={port} onPin={onPin} />)}
      {pauses.stuck.size > 0 && !pauses.rings.length && (
        <p class="why dead">Deadlock: {counted(pauses.stuck.size, "port")} paused for good, after the last recorded
          pause.</p>
      )}
      <p class="why">{sentenceOf(run, found, said)}</p>
      {found.waited_s > 0 && (
        <>
          <h3>{subjectOf(run, found)}</h3>
          <ul class="blame">
            {found.branches.map((branch, i) => (
              <li>
                <Name run={run} branch={branch} pinned={port} onPin={onPin} />
                <span class="sign" aria-hidden="true">‖</span>{" "}
                {i > 0 && found.flow && "for the rest of that "}{pausedSaid(branch, branch.waited_s, when === "now")}
                <Below moment={when === "now"} run={run} branch={branch} pinned={port} onPin={onPin} />
              </li>
            ))}
          </ul>
          <Began run={run} found={found} onPin={onPin} />
        </>
      )}
      {when === "now" && (
        <p class="hint">{paused.length ? <>Paused in this frame: {paused.slice(0, NAMED).map((own, i) => (
          <>{i > 0 && ", "}<button class="link" onClick={() => { onPin(own); }}>{way(run.names[own]!)}</button></>
        ))}{paused.length > NAMED && ` and ${paused.length - NAMED} more`}.</> : "No port is paused in this frame."}</p>
      )}
      {pauses.isCut && <p class="hint">The run recorded its first {counted(pauses.asked, "pause")}, up
        to {seconds(pauses.last_s)}; what came later is not shown.</p>}
    </section>
  );
}

function Choices<Own extends string>({ label, all, shown, onChoose }: {
  label: string; all: [Own, string][]; shown: Own; onChoose: (own: Own) => void;
}) {
  return (
    <span class="seg" role="group" aria-label={label}>
      {all.map(([own, words]) => (
        <button aria-pressed={own === shown} onClick={() => { onChoose(own); }}>{words}</button>
      ))}
    </span>
  );
}

interface OfBranch {
  run: Run;
  branch: Branch;
  pinned: number | null;
  onPin: (port: number) => void;
  /** Whether it is about one frame. */
  moment?: boolean;
}

/** The name of a branch's port, which pins it. */
function Name({ run, branch, pinned, onPin }: OfBranch) {
  const several = (pausesOf(run).classes.get(branch.port)?.length ?? 0) > 1;
  return (
    <>
      <button class="link" data-port={branch.port} aria-pressed={branch.port === pinned}
        onClick={() => { onPin(branch.port); }}>{way(run.names[branch.port]!)}</button>{" "}
      {several && `class ${branch.class_} `}
    </>
  );
}

/** Why a branch was paused: the ports for which its bytes waited. */
function Below({ run, branch, pinned, onPin, moment }: OfBranch) {
  if (!branch.pauses || branch.isRing) return null;
  return (
    <>
      <p class="held">{heldSaid(run, branch)}</p>
      <ul>
        {branch.branches.map((below) => (
          <li class={isRoot(below) && !below.pauses ? "root" : ""}>
            <Name run={run} branch={below} pinned={pinned} onPin={onPin} />
            <span class="share">{short(100 * below.share, "%")}</span>{" "}
            <span class="sign" aria-hidden="true">{below.isRing ? "↺" : below.pauses ? "‖" : "●"}</span>{" "}
            {whySaid(below, moment)}
            <Below moment={moment} run={run} branch={below} pinned={pinned} onPin={onPin} />
          </li>
        ))}
        {branch.leftOut > 0 && <li class="faint">{counted(branch.leftOut, "port")} with less than 1 %</li>}
      </ul>
    </>
  );
}

/** Ports at which it began, with their parts and what arrives there. */
function Began({ run, found, onPin }: { run: Run; found: Explanation; onPin: (port: number) => void }) {
  const { roots, rings } = beginnings(found);
  const arrivals = useMemo(() => {
    const all = new Map<number, Branch["arrivals"]>();
    const walk = (branches: Branch[]) => {
      for (const branch of branches) {
        if (branch.arrivals) all.set(branch.port, branch.arrivals);
        walk(branch.branches);
      }
    };
    walk(found.branches);
    return all;
  }, [found]);
  return (
    <>
      <h3>Began at</h3>
      <ul class="blame">
        {rings >= 0.01 && <li><span class="sign" aria-hidden="true">↺</span> a ring ({short(100 * rings, "%")}): ports
          that wait for one another</li>}
        {roots.slice(0, NAMED).map(([port, part]) => (
          <li class="root">
            <span class="sign" aria-hidden="true">●</span>{" "}
            <button class="link" onClick={() => { onPin(port); }}>{way(run.names[port]!)}</button>{" "}
            <span class="share">{short(100 * part, "%")}</span> {arrivalsSaid(arrivals.get(port) ?? null)}
          </li>
        ))}
        {roots.length > NAMED && <li class="faint">and {counted(roots.length - NAMED, "port")} more</li>}
      </ul>
    </>
  );
}
