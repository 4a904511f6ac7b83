/** The lab: an experiment on the left, what came out on the right. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted } from "../answers/numbers";
import type { Pool } from "../engine/pool";
import type { Item } from "../engine/wasm";
import type { Source } from "../engine/work";
import { lasting, quantityOf } from "./size";
import { Answer, pictured } from "./Answer";
import { Cards, type Card } from "./cards";
import { hasJobs, useChecked, type Told } from "./checked";
import { Chips, type About } from "./Chips";
import {
  comparedOf, FIRST, lessonIn, MOST_CONTROLLERS, MOST_SEEDS, nameOf, namedBy, read, sourceOf, withKey, written,
  type Experiment,
} from "./experiment";
import { experimentOf, figureOf, seriesOf } from "./figures";
import { Files, lackedOf } from "./Files";
import { Form } from "./Form";
import { isAt, Lessons, type Lesson } from "./Lessons";
import { LESSONS } from "./lessons";
import { Own, STARTED } from "./Own";
import { Names } from "./Named";
import { Papers } from "./Papers";
import { forget, MOST_HOPS, hopsOf, share, start, type State } from "./runs";
import { Seen } from "./Seen";
import { Take } from "./Take";
import { Toml } from "./Toml";
import { useDark } from "../app/hooks";

const TABS = ["Experiment", "Own controller", "Lessons"] as const;
type Tab = typeof TABS[number];

interface Props {
  pool: Pool;
  version: string;
}

/** Seconds of simulated time, times hosts, above which a run of unknown size is asked for first. */
const MOST_HOST_SECONDS = 20_000;

/** Key of the path of a given key among differences: two spellings of one key are one. */
const sameKey = (key: string, path: string) => (
  key === path || path.replace(/^(traffic|job)\.[^.]+\./, "$1.") === key);

export function Lab({ pool, version }: Props) {
  const [experiment, setExperiment] = useState<Experiment>(FIRST);
  const [tab, setTab] = useState<Tab>("Experiment");
  const [known, setKnown] = useState<Item[]>([]);
  const [scenarios, setScenarios] = useState<Item[]>([]);
  const [state, setState] = useState<State | null>(null);
  const [asks, setAsks] = useState("");
  /** What is wrong with the address that was opened. */
  const [misled, setMisled] = useState("");
  const [draft, setDraft] = useState(STARTED.text);
  const [lesson, setLesson] = useState<{ lesson: Lesson; before: State | null } | null>(null);
  const [dark, turn] = useDark();
  const [copied, setCopied] = useState("");
  const [ready, setReady] = useState(false);
  /** Texts of classes that a link brought: they run once the user allows it. */
  const [theirs, setTheirs] = useState<string[]>([]);
  /** What the address says after `#`. */
  const [address, setAddress] = useState("");
  const opening = useRef(0);
  const results = useRef<HTMLDivElement>(null);

  const change = (to: (old: Experiment) => Experiment) => {
    setExperiment(to);
    setAsks("");
    setMisled("");
  };
  const open = useCallback(async (hash: string) => {
    const mine = ++opening.current;
    if (hash.length < 2) return;
    try {
      const found = await read(hash);
      if (mine !== opening.current) return;
      const named = lessonIn(hash);
      const taught = LESSONS.find(({ key }) => key === named);
      if (named !== null && !taught) throw new Error(`there is no lesson ${named.slice(0, 40)}`);
      forget(pool);
      setState(null);
      setLesson(taught ? { lesson: taught, before: null } : null);
      if (taught) setTab("Lessons");
      // a lesson begins at its beginning
      change(() => (taught ? { ...FIRST, ...taught.begins } : found));
      setTheirs(found.own.map(({ text }) => text));
      if (found.own[0]) setDraft(found.own[0].text);
    } catch (error) {
      if (mine === opening.current) setMisled(`This address cannot be opened: ${(error as Error).message}.`);
    }
  }, [pool]);
  useEffect(() => {
    void open(location.hash).then(() => { setReady(true); });
    const moved = () => { void open(location.hash); };
    addEventListener("hashchange", moved);
    void pool.ask({ do: "list", kind: "controllers" }).then(setKnown);
    void pool.ask({ do: "list", kind: "scenarios" }).then(setScenarios);
    return () => { removeEventListener("hashchange", moved); };
  }, [pool]);

  const used = useMemo(() => namedBy(experiment), [experiment]);
  const allowed = !used.some(({ text }) => theirs.includes(text));
  const own = useMemo(() => (allowed ? used : []), [used, allowed]);
  const said = useChecked(pool, experiment, own, ready);
  const told = said?.told ?? null;
  const { problems = [], wrong = "" } = said ?? {};
  const [refused = ""] = said?.refused.values() ?? [];
  /** Names of files, of what was checked last: what is typed since may have others. */
  const named = said?.of.scenario === experiment.scenario ? said.files : null;
  const lacked = useMemo(() => lackedOf(named ?? [], experiment.files), [named, experiment.files]);
  /** The experiment of this moment, for what begins before it and ends after it. */
  const latest = useRef(experiment);
  latest.current = experiment;
  /** Why it does not run. */
  const waits = lacked.length
    ? `${lacked.join(", ")} ${lacked.length > 1 ? "are missing: add them" : "is missing: add it"} under Files` : wrong;
  const current = said?.of === experiment;
  const able = current && !wrong && allowed && told !== null && !said.refused.size;
  useEffect(() => {
    // an address that cannot be read stays, until something is changed
    if (!ready || misled || location.protocol === "about:") return;
    const taught = lesson && [false, true].some((after) => isAt(experiment, lesson.lesson, after));
    let latest = true;
    void written(experiment, taught ? lesson.lesson.key : null).then((hash) => {
      // a longer text may take longer than the one after it
      if (!latest) return;
      history.replaceState(null, "", `#${hash}`);
      setAddress(hash);
    });
    return () => { latest = false; };
  }, [experiment, lesson?.lesson, ready, misled]);

  const run = (force = false) => {
    if (!able) return;
    const runs = experiment.seeds * comparedOf(experiment).length;
    const hops = told.hops === null ? 0 : told.hops * runs;
    const long = told.hops === null && told.duration_s * told.hosts * runs > MOST_HOST_SECONDS;
    if (!force && (hops > MOST_HOPS || long)) {
      setAsks(long ? `${quantityOf(told.duration_s, "s")} of ${told.hosts} hosts, ${runs} times: it may take long. `
        : `About ${quantityOf(hops, "")} hops: some ${lasting(hops / 3e6 / pool.size)} in this tab. `
        + "The installed program takes a third of that.");
      return;
    }
    setAsks("");
    setState(start(pool, { ...experiment, own }, { notes: told.notes, hasJobs: hasJobs(told) }, setState));
    // on a narrow screen the answer lies below; a lesson says its figures itself
    if (innerWidth <= 900 && tab !== "Lessons") requestAnimationFrame(() => { results.current?.scrollIntoView(); });
  };
  const stop = () => { pool.stop(); };
  useEffect(() => {
    // a file that is dropped would take the place of the page
    const kept = (event: DragEvent) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); };
    addEventListener("dragover", kept);
    addEventListener("drop", kept);
    return () => {
      removeEventListener("dragover", kept);
      removeEventListener("drop", kept);
    };
  }, []);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
        event.preventDefault();
        run();
      }
    };
    addEventListener("keydown", pressed);
    return () => { removeEventListener("keydown", pressed); };
  });

  const typed = useMemo(() => new Map((told?.given ?? []).flatMap(({ path }) => {
    const found = experiment.set.find(([key]) => sameKey(key, path));
    return found ? [[path, found[1]] as [string, string]] : [];
  })), [told, experiment]);
  const changed = useMemo(() => new Set(typed.keys()), [typed]);
  const without = (old: Experiment, path: string) => (
    { ...old, set: old.set.filter(([key]) => !sameKey(key, path)) });
  const choose = (card: Card) => {
    history.pushState(null, "", location.href);
    change((old) => ({ ...old, scenario: card.scenario, text: null, files: [], set: card.set }));
  };
  const series = useMemo(() => (state ? seriesOf(state.of) : new Map<string, string>()), [state?.of]);
  const figure = useMemo(() => figureOf(experiment), [experiment]);
  const describe = async (name: string): Promise<About> => {
    const source = experiment.own.find((one) => one.name === name);
    if (!source) return await pool.ask({ do: "describe", kind: "controllers", name });
    if (!own.includes(source)) return { title: nameOf(name), what: "is not allowed to run.", keys: [] };
    const { params, defaults } = await pool.ask({ do: "class", source });
    return { title: nameOf(name), what: "is a class of yours.", keys: params.map((param) => (
      { name: param, default: String(defaults[param]!), doc: "", source: "", expected: "a number", unit: "" })) };
  };
  const compare = (source: Source) => {
    setTheirs((old) => old.filter((text) => text !== source.text));
    change((old) => ({
      ...old, own: [...old.own.filter(({ name }) => name !== source.name), source],
      controllers: old.controllers.some((one) => sourceOf(one, [source])) ? old.controllers
        : [...old.controllers, source.name],
    }));
    setTab("Experiment");
  };
  const learn = (to: Lesson) => {
    forget(pool);
    history.pushState(null, "", location.href);
    setLesson({ lesson: to, before: null });
    change((old) => ({ ...FIRST, ...to.begins, own: old.own }));
    setState(null);
    setTab("Lessons");
  };
  const link = () => {
    navigator.clipboard.writeText(location.href).then(() => { setCopied("Copied"); }, () => {
      setCopied("Copy it from the address bar");
    });
    setTimeout(() => { setCopied(""); }, 3000);
  };
  const differs = state !== null && JSON.stringify(state.of) !== JSON.stringify({ ...experiment, own });
  /** Of what ran, where it is still what is set up. */
  const size = told && !differs ? `${descriptionOf(told)}; ` : "";
  const failed = useMemo(() => {
    const first = new Map<string, string>();
    for (const { controller, words } of state?.failed.values() ?? []) {
      if (!first.has(controller)) first.set(controller, words);
    }
    return first;
  }, [state]);
  const drafted = experiment.own.find(({ text }) => text === draft);
  const full = experiment.controllers.length >= MOST_CONTROLLERS
    && !experiment.controllers.some((one) => sourceOf(one, experiment.own))
    ? `${MOST_CONTROLLERS} controllers are compared: remove one first` : "";
  return (
    <>
      <div class="top" role="banner">
        <h1>Incast lab</h1>
        <div class="tabs" role="tablist" aria-label="Setup" onKeyDown={(event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (step === undefined) return;
          const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length]!;
          setTab(next);
          document.getElementById(`tab-${TABS.indexOf(next)}`)?.focus();
        }}>
          {TABS.map((one, i) => (
            <button role="tab" id={`tab-${i}`} aria-controls="setup" aria-selected={tab === one}
              tabIndex={tab === one ? 0 : -1} onClick={() => { setTab(one); }}>{one}</button>
          ))}
        </div>
        <span class="priv soft">Runs in this tab. Nothing leaves it.</span>
        <button class="btn" onClick={link}>{copied || "Copy link"}</button>
        <button class="btn icon" onClick={turn} aria-label="Dark or light" title="Dark or light">◐</button>
      </div>
      <div class="body" role="main">
        <div class="left" role="tabpanel" id="setup" aria-label={tab}>
          <div class="scroll">
            {tab === "Experiment" && (
              <>
                <div class="step">
                  <h2>Scenario</h2>
                  <select aria-label="All scenarios" value={experiment.text === null ? experiment.scenario : ""}
                    onChange={(event) => {
                      const { value } = event.currentTarget;
                      if (!value) return;
                      history.pushState(null, "", location.href);
                      change((old) => ({ ...old, scenario: value, text: null, files: [], set: [] }));
                    }}>
                    {experiment.text !== null && (
                      <option value="">{experiment.scenario}{
                        figure ? figure.changed ? ", changed" : "" : ", edited as text"}</option>)}
                    {scenarios.map(({ name, what }) => <option value={name} title={what}>{name}</option>)}
                  </select>
                </div>
                <Cards chosen={experiment.text === null ? experiment.scenario : ""} onChoose={choose} />
                <Papers chosen={figure} onChoose={(paper, one) => {
                  history.pushState(null, "", location.href);
                  change((old) => ({ ...old, ...experimentOf(paper, one) }));
                }} />
                <p class="soft">{current && !wrong ? descriptionOf(told) : "\u00a0"}</p>
                <div class="step"><h2>Controllers</h2>
                  <span class="soft">{experiment.controllers.length || "the scenario's own"}
                    {experiment.controllers.length > 0 && " of at most 6; all get the same flows and seeds"}</span>
                </div>
                <Chips controllers={experiment.controllers} own={experiment.own} known={known}
                  wrong={said?.refused ?? new Map()}
                  describe={describe}
                  onChange={(controllers) => { change((old) => ({ ...old, controllers })); }}
                  onOwn={() => { setTab("Own controller"); }} />
                <Files key={experiment.scenario} files={experiment.files} named={named} lacked={lacked}
                  onChange={(to) => {
                    if (latest.current.scenario !== experiment.scenario) return;
                    const files = to(latest.current.files);
                    change((old) => ({ ...old, files }));
                  }} />
                {wrong && !problems.length && <p class="wrong" role="alert">{wrong}</p>}
                {(experiment.set.length > 0 || experiment.text !== null || experiment.files.length > 0) && !figure && (
                  <button class="btn quiet reset" onClick={() => {
                    history.pushState(null, "", location.href);
                    // the text of a link may have a name of its own
                    const known = scenarios.some(({ name }) => name === experiment.scenario);
                    const scenario = known ? experiment.scenario : FIRST.scenario;
                    change((old) => ({ ...old, scenario, set: [], text: null, files: [] }));
                  }}>Reset the settings</button>
                )}
                <details class="settings" open={innerWidth > 900}>
                  <summary class="step">
                    <h2>Settings</h2> <span class="soft">{experiment.set.length} changed</span>
                  </summary>
                  <div class="two">
                    <Form given={told?.given ?? []} typed={typed} changed={changed} problems={problems}
                      onChange={(path, value) => { change((old) => withKey(without(old, path), path, value)); }}
                      onReset={(path) => { change((old) => without(old, path)); }} />
                    <Toml wrong={problems.length ? wrong : ""} before={said?.plain ?? ""}
                      text={experiment.text !== null && !experiment.set.length ? experiment.text : told?.shown ?? ""}
                      onChange={(text) => {
                        // what was typed is of the scenario that was there
                        change((old) => (old.scenario === experiment.scenario ? { ...old, text, set: [] } : old));
                      }} />
                  </div>
                </details>
              </>
            )}
            {tab === "Own controller" && (
              <Own draft={draft} others={allowed ? [] : used.filter(({ text }) => text !== draft)} full={full}
                allowed={!theirs.includes(draft)} isCompared={drafted !== undefined && used.includes(drafted)}
                failed={[...failed].find(([one]) => drafted && sourceOf(one, [drafted]))?.[1] ?? ""}
                check={(source) => pool.ask({ do: "class", source })} onDraft={setDraft} onCompare={compare} />
            )}
            {tab === "Lessons" && (
              <Lessons chosen={lesson?.lesson ?? null} before={lesson?.before ?? null} state={state}
                experiment={experiment} able={able} onChoose={learn}
                onChange={(set) => { change((old) => ({ ...old, ...set })); }}
                onKeep={(before) => { setLesson((old) => old && { ...old, before }); }} onRun={() => { run(); }}
                onLeave={() => { setLesson(null); }} />
            )}
          </div>
          {misled && <p class="asks" role="alert">{misled} The page shows another experiment.</p>}
          {!allowed && (
            <p class="asks" role="alert">
              This link brings a controller's code. It would run in this tab alone, without network.{" "}
              <button class="btn" onClick={() => { setTab("Own controller"); }}>Read it</button>{" "}
              <button class="btn" onClick={() => { setTheirs([]); }}>Allow it</button>
            </p>
          )}
          {asks && (
            <p class="asks" role="alert">{asks}{" "}
              <button class="btn" onClick={() => { run(true); }}>Run all the same</button></p>
          )}
          <div class="runbar">
            <button class="btn main run" disabled={!able} title="Ctrl Enter"
              onClick={() => { run(); }}>Run</button>
            <button class="btn" disabled={!state?.running} onClick={stop}>Stop</button>
            <label>seeds <input class="seeds" type="number" min={1} max={MOST_SEEDS} value={experiment.seeds}
              onChange={(event) => {
                const seeds = Math.round(Number(event.currentTarget.value));
                change((old) => ({ ...old, seeds: Math.min(MOST_SEEDS, Math.max(1, seeds || 1)) }));
              }} /></label>
            {current && wrong && !state?.running
              ? <p class="prog wrong">Cannot run: {waits.split("\n")[0]}</p> : <Progress state={state} told={told} />}
          </div>
        </div>
        <div class="right" ref={results}>
          {state === null ? <Empty wrong={current ? waits || refused : ""} onRun={() => { run(); }} able={able} /> : (
            <Names.Provider value={series}>
              {differs && !state.running && <p class="note">These results are for other settings. <button class="btn"
                onClick={() => { run(); }}>Run again</button></p>}
              {[...failed].map(([controller, words]) => (
                <p class="note warn" role="alert"><b>{nameOf(controller)}</b> {words}</p>
              ))}
              <Answer state={state} />
              <Seen finished={state.finished} growing={state.growing} controllers={comparedOf(state.of)} dark={dark} />
              {state.notes.map((note) => <p class="note">{note}</p>)}
            </Names.Provider>
          )}
          <Take experiment={experiment} files={experiment.files.filter(([name]) => named?.includes(name) ?? true)}
            link={`${location.href.split("#")[0]}#${address}`}
            text={current && !wrong ? told?.shown ?? "" : ""} picture={state?.finished.length ? {
              name: `${state.of.scenario} ${comparedOf(state.of).map(nameOf).join(" ")}`,
              made: () => pictured(state, size),
            } : null} />
          <p class="faint">Incast {version}. A scenario and a seed give the same bytes in this tab and in the installed
            program, under its own controllers.</p>
        </div>
      </div>
    </>
  );
}

function descriptionOf(told: Told | null): string {
  if (!told) return "";
  const rate = told.host_rate_bps ? `, ${quantityOf(told.host_rate_bps, "b/s")} a host` : "";
  const [hosts, flows] = [counted(told.hosts, "host"), counted(told.flows, "flow")];
  return `${hosts}${rate}, ${flows}, ${quantityOf(told.duration_s, "s")}`;
}

function Progress({ state, told }: { state: State | null; told: Told | null }) {
  if (!state) {
    return <p class="prog soft">{told?.hops ? `about ${quantityOf(told.hops, "")} hops a run` : ""}</p>;
  }
  const done = share(state);
  const over = `${state.finished.length} of ${state.total} runs`;
  const words = `${state.finished.length} of ${state.total} runs, ${quantityOf(hopsOf(state), "")} hops`;
  const after = state.stopped ? ", stopped" : state.running ? "" : `, ${quantityOf(state.took / 1000, "s")}`;
  return (
    <div class="prog">
      <span class="heard" role="status">{state.running ? "" : `${over}${after}`}</span>
      <span aria-hidden="true">{words}{after}</span>
      <div class="bar" role="progressbar" aria-valuenow={Math.round(100 * done)} aria-valuemin={0} aria-valuemax={100}
        aria-label="Runs"><i style={{ width: `${100 * done}%` }} /></div>
    </div>
  );
}

function Empty({ wrong, able, onRun }: { wrong: string; able: boolean; onRun: () => void }) {
  return (
    <section class="card empty">
      <h2>{able ? "Ready to run" : wrong || "Reading the scenario…"}</h2>
      <p class="soft">Choose a scenario and controllers, and run them under the same seeds. The answer comes here, with
        the figures, curves and the fabric over time.</p>
      <button class="btn main run" disabled={!able} onClick={onRun}>Run</button>
    </section>
  );
}
