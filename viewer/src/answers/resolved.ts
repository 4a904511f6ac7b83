/** A resolved scenario, of which answers need the duration, the timers and the kinds of traffic. */

export type Table = { [key: string]: Value };
export type Value = string | number | boolean | Table | Table[];

/** Tables and plain values of TOML as the engine writes it: a value a line. Arrays and inline tables stay as text. */
export function readToml(text: string): Table {
  const root: Table = {};
  let table = root;
  let ending = ""; // of a text over several lines
  for (const line of text.split("\n")) {
    if (ending) {
      if (line.endsWith(ending)) ending = "";
      continue;
    }
    const head = /^\[(\[?)([^\][]+)\]/.exec(line);
    const pair = /^([A-Za-z0-9_-]+|"[^"]*") = (.*)$/.exec(line);
    if (head) table = opened(root, head[2]!.split("."), head[1] !== "");
    if (!pair) continue;
    const [, name, written] = pair as unknown as [string, string, string];
    const quotes = /^("""|''')/.exec(written)?.[0];
    if (quotes && !(written.length >= 6 && written.endsWith(quotes))) ending = quotes;
    else table[name.replaceAll('"', "")] = valueOf(written);
  }
  return root;
}

/** The table of a heading; within an array of tables, of its last one. */
function opened(root: Table, words: string[], isEntry: boolean): Table {
  let table = root;
  words.forEach((word, i) => {
    const found = table[word];
    if (isEntry && i === words.length - 1) {
      const entries = Array.isArray(found) ? found : [];
      table[word] = entries;
      entries.push({});
      table = entries.at(-1)!;
      return;
    }
    const inner = Array.isArray(found) ? found.at(-1) : found;
    if (typeof inner !== "object") table[word] = {};
    table = typeof inner === "object" ? inner : table[word] as Table;
  });
  return table;
}

function valueOf(written: string): Value {
  if (written === "true" || written === "false") return written === "true";
  if (/^'[^']*'$/.test(written)) return written.slice(1, -1);
  if (/^".*"$/.test(written)) {
    try {
      return JSON.parse(written) as string;
    } catch {
      return written.slice(1, -1);
    }
  }
  return /^[-+]?[0-9]/.test(written) ? Number(written.replaceAll("_", "")) : written;
}

/** Picoseconds of the units of time. */
const UNITS: Record<string, number> = { s: 1e12, ms: 1e9, us: 1e6, µs: 1e6, ns: 1e3, ps: 1 };

/** A time as users write it, in seconds. */
export function secondsOf(value: Value | undefined): number {
  const [, number, unit] = /^\s*([0-9._]+)\s*([a-zµ]*)\s*$/.exec(String(value)) ?? [];
  const scale = UNITS[unit ?? ""];
  return number === undefined || !scale ? 0 : Math.round(Number(number.replaceAll("_", "")) * scale) / 1e12;
}

function inner(table: Table, name: string): Table {
  const found = table[name];
  return typeof found === "object" && !Array.isArray(found) ? found : {};
}

/** Timers of a scenario, in seconds; 0 without one. */
export interface Waits {
  run_s: number;
  /** Least timeout of a flow whose last losses only a timeout repairs; infinite: it has none. */
  rto_s: number;
  syn_s: number;
}

/** Least time after which a transport repeats its last packets by itself. */
function timeoutOf(transport: Table): number {
  const own = String(transport.preset).startsWith("rdma") ? inner(transport, "rdma").timeout : undefined;
  return own === undefined ? secondsOf(transport.rto_min) : secondsOf(own) || Infinity;
}

/** What answers need of a scenario. */
export interface Resolved {
  waits: Waits;
  /** Traffic entries of datagrams in a run that also has flows under controllers. */
  datagrams: string[];
}

export function resolvedOf(text: string): Resolved {
  const scenario = readToml(text);
  const listOf = (list: Value | undefined) => (Array.isArray(list) ? list : []);
  const traffic = [...listOf(scenario.traffic), ...listOf(scenario.job)];
  const transports = traffic.map((entry) => ({ ...inner(scenario, "transport"), ...inner(entry, "transport") }));
  const longest = (of: Table[], name: string) => Math.max(0, ...of.map((one) => secondsOf(one[name])));
  const datagrams = traffic.filter((entry) => inner(entry, "app").kind === "udp").map((entry) => String(entry.name));
  return {
    waits: {
      run_s: secondsOf(inner(scenario, "run").duration),
      rto_s: Math.max(0, ...transports.filter((one) => "rto_min" in one && !one.tail_loss_probe).map(timeoutOf)),
      syn_s: longest(transports.filter((one) => one.handshake), "syn_timeout"),
    },
    datagrams: datagrams.length < traffic.length ? datagrams : [],
  };
}
