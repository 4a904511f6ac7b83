/** The lab: an experiment on the left, what came out on the right. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Pool } from "../engine/pool";
import { Refused, type Checked, type Item, type Problem } from "../engine/wasm";
import type { Source } from "../engine/work";
import { quantityOf } from "./size";
import { Answer } from "./Answer";
import { Cards, type Card } from "./cards";
import { Chips } from "./Chips";
import { askedOf, FIRST, MOST_SEEDS, read, withKey, written, type Experiment } from "./experiment";
import { Form, type Given } from "./Form";
import { Lessons, type Lesson } from "./Lessons";
import { Own, STARTED } from "./Own";
import { MOST_BYTES, MOST_HOPS, share, start, type State } from "./runs";
import { Seen } from "./Seen";
import { Take } from "./Take";
import { Toml } from "./Toml";
import { useDark } from "../app/hooks";

type Told = Checked & { written: string; given: Given[] };

const TABS = ["Experiment", "Own controller", "Lessons"] as const;
type Tab = typeof TABS[number];

interface Props {
  pool: Pool;
  version: string;
}

/** Key of the path of a given key among differences: two spellings of one key are one. */
const sameKey = (key: string, path: string) => (
  key === path || path.replace(/^traffic\.[^.]+\./, "traffic.") === key);

export function Lab({ pool, version }: Props) {
  const [experiment, setExperiment] = useState<Experiment>(FIRST);
  const [tab, setTab] = useState<Tab>("Experiment");
  const [told, setTold] = useState<Told | null>(null);
  const [plain, setPlain] = useState("");
  const [problems, setProblems] = useState<Problem[]>([]);
  const [wrong, setWrong] = useState("");
  const [wrongChips, setWrongChips] = useState(new Map<string, string>());
  const [known, setKnown] = useState<Item[]>([]);
  const [scenarios, setScenarios] = useState<Item[]>([]);
  const [state, setState] = useState<State | null>(null);
  const [asks, setAsks] = useState("");
  /** What is wrong with the address that the page was opened with. */
  const [misled, setMisled] = useState("");
  const [source, setSource] = useState<Source>(STARTED);
  const [lesson, setLesson] = useState<{ lesson: Lesson; before: State | null } | null>(null);
  const [dark, turn] = useDark();
  const [copied, setCopied] = useState("");
  const [ready, setReady] = useState(false);
  /** Classes of an address run once the user allows it. */
  const [allowed, setAllowed] = useState(true);
  const latest = useRef(0);

  const change = (to: Experiment) => {
    setExperiment(to);
    setAsks("");
    setMisled("");
  };
  const open = useCallback(async (hash: string) => {
    if (hash.length < 2) return;
    try {
      const found = await read(hash);
      setExperiment(found);
      setAllowed(found.own.length === 0);
      if (found.own[0]) setSource(found.own[0]);
    } catch (error) {
      setMisled(`This address cannot be opened: ${(error as Error).message}.`);
    }
  }, []);
  useEffect(() => {
    void open(location.hash).then(() => { setReady(true); });
    const moved = () => { void open(location.hash); };
    addEventListener("hashchange", moved);
    void pool.ask({ do: "list", kind: "controllers" }).then(setKnown);
    void pool.ask({ do: "list", kind: "scenarios" }).then(setScenarios);
    return () => { removeEventListener("hashchange", moved); };
  }, [pool]);

  // what the experiment is: form, text, size, errors
  const own = allowed ? experiment.own : [];
  useEffect(() => {
    if (!ready) return;
    const mine = ++latest.current;
    const check = async () => {
      try {
        const scenario = { ...askedOf(experiment, null, null), most_bytes: MOST_BYTES };
        const [found, before] = await Promise.all([
          pool.ask({ do: "check", scenario, sources: own }) as Promise<Told>,
          pool.ask({ do: "check", scenario: { ...scenario, set: [] }, sources: own }) as Promise<Told>,
        ]);
        if (mine !== latest.current) return;
        setProblems([]);
        setWrong(found.text === undefined
          ? `It takes more memory than this page allows: ${quantityOf(found.memory, "B")} of ${
            quantityOf(MOST_BYTES, "B")}. Choose fewer hosts, or the installed program.` : "");
        if (found.text !== undefined) setTold(found);
        if (before.written) setPlain(before.written);
      } catch (error) {
        if (mine !== latest.current) return;
        setProblems(error instanceof Refused ? error.problems : []);
        setWrong((error as Error).message);
      }
      const refused = new Map<string, string>();
      for (const controller of experiment.controllers) {
        if (!allowed && experiment.own.some(({ name }) => controller.startsWith(name))) continue;
        try {
          await pool.ask({ do: "check", scenario: { ...askedOf(experiment, controller, null), most_bytes: MOST_BYTES },
            sources: own });
        } catch (error) {
          const ofIt = error instanceof Refused && error.problems.some(({ key }) => key.startsWith("controller"));
          if (ofIt) refused.set(controller, (error as Error).message);
        }
        if (mine !== latest.current) return;
      }
      setWrongChips(refused);
    };
    const later = setTimeout(() => { void check(); }, 60);
    void written(experiment).then((hash) => {
      if (mine === latest.current && location.protocol !== "about:") history.replaceState(null, "", `#${hash}`);
    });
    return () => { clearTimeout(later); };
  }, [experiment, ready, allowed]);

  const run = (force = false) => {
    const hops = (told?.hops ?? 0) * experiment.seeds * Math.max(1, experiment.controllers.length);
    if (!force && hops > MOST_HOPS) {
      setAsks(`About ${quantityOf(hops, "")} hops: some ${Math.ceil(hops / 3e6 / pool.size / 60)} minutes in this tab. `
        + "The installed program takes a fifth of that.");
      return;
    }
    setAsks("");
    pool.stop();
    setState(start(pool, { ...experiment, own }, setState));
  };
  const stop = () => { pool.stop(); };
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

  const changed = useMemo(() => new Set((told?.given ?? []).filter(({ path }) => (
    experiment.set.some(([key]) => sameKey(key, path)))).map(({ path }) => path)), [told, experiment]);
  const takeBack = (path: string) => {
    change({ ...experiment, set: experiment.set.filter(([key]) => !sameKey(key, path)) });
  };
  const setKey = (path: string, value: string) => {
    const set = experiment.set.filter(([key]) => !sameKey(key, path));
    change(withKey({ ...experiment, set }, path, value));
  };
  const choose = (card: Card) => {
    change({ ...experiment, scenario: card.scenario, text: null, set: card.set });
  };
  const type = (text: string) => { change({ ...experiment, text, set: [] }); };
  const compare = () => {
    const others = experiment.own.filter(({ name }) => name !== source.name);
    const controllers = experiment.controllers.includes(source.name) ? experiment.controllers
      : [...experiment.controllers, source.name].slice(-6);
    change({ ...experiment, own: [...others, source], controllers });
    setAllowed(true);
    setTab("Experiment");
  };
  const edit = (to: Source) => {
    setSource(to);
    if (experiment.own.some(({ name }) => name === to.name)) {
      change({ ...experiment, own: experiment.own.map((one) => (one.name === to.name ? to : one)) });
    }
  };
  const learn = (to: Lesson) => {
    setLesson({ lesson: to, before: null });
    change({ ...FIRST, ...to.begins });
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
  const failed = [...state?.failed ?? []];
  return (
    <>
      <div class="top" role="banner">
        <h1>Incast lab</h1>
        <nav class="tabs" role="tablist" aria-label="Setup">
          {TABS.map((one) => (
            <button role="tab" aria-selected={tab === one} onClick={() => { setTab(one); }}>{one}</button>
          ))}
        </nav>
        <span class="priv soft">Runs in this tab. Nothing leaves it.</span>
        <button class="btn" onClick={link}>{copied || "Copy link"}</button>
        <button class="btn icon" onClick={turn} aria-label="Dark or light" title="Dark or light">◐</button>
      </div>
      <div class="body" role="main">
        <div class="left" role="tabpanel" aria-label={tab}>
          <div class="scroll">
            {tab === "Experiment" && (
              <>
                <div class="step">
                  <h2>Scenario</h2>
                  <select aria-label="All scenarios" value={experiment.text === null ? experiment.scenario : ""}
                    onChange={(event) => {
                      const { value } = event.currentTarget;
                      if (value) change({ ...experiment, scenario: value, text: null, set: [] });
                    }}>
                    {experiment.text !== null && <option value="">{experiment.scenario}, changed as text</option>}
                    {scenarios.map(({ name, what }) => <option value={name} title={what}>{name}</option>)}
                  </select>
                </div>
                <Cards chosen={experiment.text === null ? experiment.scenario : ""} onChoose={choose} />
                <p class="soft">{descriptionOf(told)}</p>
                <div class="step"><h2>Controllers</h2>
                  <span class="soft">{experiment.controllers.length || "the scenario's own"}
                    {experiment.controllers.length > 0 && " of at most 6; all get the same flows and seeds"}</span>
                </div>
                <Chips controllers={experiment.controllers} own={experiment.own} known={known} wrong={wrongChips}
                  describe={(name) => pool.ask({ do: "describe", kind: "controllers", name })}
                  onChange={(controllers) => { change({ ...experiment, controllers }); }}
                  onOwn={() => { setTab("Own controller"); }} />
                {wrong && !problems.length && <p class="wrong" role="alert">{wrong}</p>}
                <details class="settings" open={innerWidth > 900}>
                  <summary class="step">
                    <h2>Settings</h2> <span class="soft">{experiment.set.length} changed</span>
                    {(experiment.set.length > 0 || experiment.text !== null) && (
                      <button class="btn quiet" onClick={(event) => {
                        event.preventDefault();
                        change({ ...experiment, set: [], text: null });
                      }}>Reset</button>
                    )}
                  </summary>
                  <div class="two">
                    <Form given={told?.given ?? []} changed={changed} problems={problems} onChange={setKey}
                      onReset={takeBack} />
                    <Toml text={experiment.text !== null && problems.length ? experiment.text : told?.written ?? ""}
                      before={plain} wrong={problems.length ? wrong : ""} onChange={type} />
                  </div>
                </details>
              </>
            )}
            {tab === "Own controller" && (
              <Own source={source} added={experiment.own.some(({ name, text }) => (
                name === source.name && text === source.text)) && experiment.controllers.includes(source.name)}
                failed={state?.failed.get(source.name) ?? ""} check={(own) => pool.ask({ do: "class", source: own })}
                onChange={edit} onAdd={compare} />
            )}
            {tab === "Lessons" && (
              <Lessons chosen={lesson?.lesson ?? null} before={lesson?.before ?? null} state={state}
                experiment={experiment} onChoose={learn}
                onChange={(set) => { change({ ...experiment, ...set }); }}
                onKeep={(before) => { setLesson((old) => old && { ...old, before }); }} onRun={() => { run(true); }}
                onLeave={() => { setLesson(null); }} />
            )}
          </div>
          {misled && <p class="asks" role="alert">{misled} The page shows its first experiment.</p>}
          {!allowed && (
            <p class="asks" role="alert">
              This link brings a controller's code. It would run in this tab alone, without network.{" "}
              <button class="btn" onClick={() => { setTab("Own controller"); }}>Read it</button>{" "}
              <button class="btn" onClick={() => { setAllowed(true); }}>Allow it</button>
            </p>
          )}
          {asks && (
            <p class="asks" role="alert">{asks}{" "}
              <button class="btn" onClick={() => { run(true); }}>Run all the same</button></p>
          )}
          <div class="runbar">
            <button class="btn main run" disabled={Boolean(wrong) || !told || !allowed} title="Ctrl Enter"
              onClick={() => { run(); }}>Run</button>
            <button class="btn" disabled={!state?.running} onClick={stop}>Stop</button>
            <label>seeds <input class="seeds" type="number" min={1} max={MOST_SEEDS} value={experiment.seeds}
              onChange={(event) => {
                const seeds = Math.round(Number(event.currentTarget.value));
                change({ ...experiment, seeds: Math.min(MOST_SEEDS, Math.max(1, seeds || 1)) });
              }} /></label>
            <Progress state={state} told={told} />
          </div>
        </div>
        <div class="right">
          {state === null ? <Empty told={told} onRun={() => { run(); }} able={!wrong && told !== null && allowed} /> : (
            <>
              {differs && !state.running && <p class="note">These results are of other settings. <button class="btn"
                onClick={() => { run(); }}>Run again</button></p>}
              {failed.map(([controller, words]) => (
                <p class="note warn" role="alert"><b>{controller}</b> {words}</p>
              ))}
              {state.of.controllers.length > 0 && <Answer state={state} />}
              <Seen finished={state.finished} controllers={state.of.controllers} dark={dark} />
              {told?.notes.map((note) => <p class="note">{note}</p>)}
            </>
          )}
          <Take experiment={experiment} text={told?.written ?? ""} link={location.href} />
          <p class="faint">Incast {version}. The same scenario and seed give the same bytes in this tab and in the
            installed program.</p>
        </div>
      </div>
    </>
  );
}

function descriptionOf(told: Told | null): string {
  if (!told) return "";
  const rate = told.host_rate_bps ? `, ${quantityOf(told.host_rate_bps, "b/s")} a host` : "";
  return `${told.hosts} hosts${rate}, ${told.flows} flows, ${quantityOf(told.duration_s, "s")}`;
}

function Progress({ state, told }: { state: State | null; told: Told | null }) {
  if (!state) {
    return <p class="prog soft">{told?.hops ? `about ${quantityOf(told.hops, "")} hops a run` : ""}</p>;
  }
  const done = share(state);
  const words = `${state.finished.length} of ${state.total} runs, ${quantityOf(state.hops, "")} hops`;
  const after = state.stopped ? ", stopped" : state.running ? "" : `, ${quantityOf(state.took / 1000, "s")}`;
  return (
    <div class="prog" role="status">
      {words}{after}
      <div class="bar" role="progressbar" aria-valuenow={Math.round(100 * done)} aria-valuemin={0} aria-valuemax={100}
        aria-label="Runs"><i style={{ width: `${100 * done}%` }} /></div>
    </div>
  );
}

function Empty({ told, able, onRun }: { told: Told | null; able: boolean; onRun: () => void }) {
  return (
    <section class="card empty">
      <h2>{told ? "Ready to run" : "Reading the engine…"}</h2>
      <p class="soft">Choose a scenario and controllers, and run them under the same seeds. The answer comes here, with
        the figures, curves and the fabric over time.</p>
      <button class="btn main run" disabled={!able} onClick={onRun}>Run</button>
    </section>
  );
}
