/**
 * Controllers of users: a JavaScript class with the methods and attributes of the Python class
 * (docs/controllers/python.md), one object for each flow.
 */

/** A class as the engine knows it. */
export interface About {
  /** Name in scenarios: `lab:Mine`. */
  name: string;
  /** Identifies the version of its code. */
  source: string;
  ecn: string;
  own_recovery: boolean;
  ack_every_packet: boolean;
  /** Attributes that are recorded over time. */
  state: string[];
  methods: string[];
  /** Names of parameters. */
  params: string[];
}

export type Made = Record<string, unknown>;
export type Constructor = new (params: Record<string, number>) => Made;

export interface Class {
  about: About;
  make: Constructor;
}

/** What the engine passes: names of methods and phases, names and types of the attributes of events. */
export interface Protocol {
  methods: string[];
  /** Most values of an event, or attributes of an object. */
  most_values: number;
  phases: string[];
  env: [string, string][];
  ack: [string, string][];
  congestion: [string, string][];
}

/** Objects of a class in a run. */
export interface Objects {
  /** Most values of an event. */
  most: number;
  /** Calls a method of a flow's object with the event in `values`, and writes the object's attributes there. */
  call(flow: number, method: number, values: Float64Array): void;
  clear(): void;
}

const REQUIRED = ["on_ack", "on_loss", "on_timeout"];
const OPTIONAL = ["init", "on_ecn", "on_recovered", "on_undo", "on_idle"];
const ECN = ["off", "classic", "dctcp"];

const isName = (value: unknown): value is string => typeof value === "string" && /^[A-Za-z_]\w*$/.test(value);

/** What a class says of itself. Raises an error that says what is missing or wrong. */
export function aboutOf(make: unknown, name: string, source: string): About {
  if (typeof make !== "function" || !make.prototype) throw new Error("expected a class");
  const of = make as unknown as Record<string, unknown>;
  const methods = [...REQUIRED, ...OPTIONAL].filter(
    (method) => typeof (make.prototype as Made)[method] === "function");
  const missing = REQUIRED.find((method) => !methods.includes(method));
  if (missing) throw new Error(`the class lacks the method ${missing}`);
  const ecn = of.ecn ?? "off";
  if (typeof ecn !== "string" || !ECN.includes(ecn)) throw new Error(`static ecn: expected one of ${ECN.join(", ")}`);
  const state = (of.state ?? []) as unknown;
  if (!Array.isArray(state) || !state.every(isName)) throw new Error("static state: expected a list of names");
  const params = (of.params ?? {}) as Record<string, unknown>;
  if (typeof params !== "object" || !Object.values(params).every((value) => typeof value === "number")) {
    throw new Error("static params: expected names with numbers");
  }
  if (Object.keys(params).length > 16) throw new Error("static params: expected at most 16");
  return {
    name, source, ecn, methods, state, own_recovery: Boolean(of.own_recovery),
    ack_every_packet: Boolean(of.ack_every_packet), params: Object.keys(params),
  };
}

type Reader = (values: Float64Array, at: number) => unknown;

/** How a value of each type is read. */
function readerOf(type: string, phases: string[]): Reader {
  if (type.startsWith("Option")) return (values, at) => (Number.isNaN(values[at]!) ? null : values[at]!);
  if (type === "bool") return (values, at) => values[at] !== 0;
  if (type.includes("str")) return (values, at) => phases[values[at]!];
  return (values, at) => values[at]!;
}

export function objectsOf({ about, make }: Class, protocol: Protocol): Objects {
  const objects = new Map<number, Made>();
  const events = { env: protocol.env, ack: protocol.ack, congestion: protocol.congestion };
  const readers = Object.fromEntries(Object.entries(events).map(([event, attributes]) => (
    [event, attributes.map(([name, type]) => [name, readerOf(type, protocol.phases)] as const)]))) as Record<
    keyof typeof events, (readonly [string, Reader])[]>;
  const read = (event: keyof typeof events, values: Float64Array) => {
    const made: Record<string, unknown> = {};
    readers[event].forEach(([name, reader], at) => { made[name] = reader(values, at); });
    return made;
  };
  const defaults = ((make as unknown as Made).params ?? {}) as Record<string, number>;
  const begun = (flow: number, values: Float64Array) => {
    const env = read("env", values);
    const at = protocol.env.length;
    const params = { ...defaults };
    for (let given = 0; given < values[at]!; given++) {
      params[about.params[values[at + 1 + 2 * given]!]!] = values[at + 2 + 2 * given]!;
    }
    const object = new make(params);
    if (object.cwnd === undefined) object.cwnd = env.initial_window;
    objects.set(flow, object);
    if (about.methods.includes("init")) (object.init as (env: unknown) => void)(env);
    return object;
  };
  const argument = (method: string, values: Float64Array) => {
    if (method === "on_ack") return read("ack", values);
    if (["on_loss", "on_ecn", "on_timeout"].includes(method)) return read("congestion", values);
    return method === "on_undo" ? undefined : values[0];
  };
  /** An attribute; NaN where it is null, or was never set. */
  const optional = (object: Made, name: string) => {
    const value = object[name];
    if (value === undefined || value === null) return NaN;
    if (typeof value !== "number" || Number.isNaN(value)) {
      throw new TypeError(`${name} is ${String(value)}; expected a number, or null`);
    }
    return value;
  };
  const recorded = (object: Made, name: string) => {
    const value = object[name];
    if (value === null) return NaN;
    if (typeof value !== "number" && typeof value !== "boolean") {
      throw new TypeError(`${name}, which static state names, is ${String(value)}; expected a number`);
    }
    return Number(value);
  };
  return {
    most: protocol.most_values,
    call(flow, method, values) {
      const name = protocol.methods[method]!;
      let object = objects.get(flow);
      if (name === "init") object = begun(flow, values);
      else (object![name] as (event: unknown) => void)(argument(name, values));
      const cwnd = object!.cwnd;
      if (typeof cwnd !== "number") throw new TypeError(`cwnd is ${String(cwnd)}; expected a number`);
      values.set([cwnd, ...["ssthresh", "pacing_gap_ps", "pacing_rate_bps"].map((name) => optional(object!, name)),
        ...about.state.map((name) => recorded(object!, name))]);
    },
    clear() { objects.clear(); },
  };
}
