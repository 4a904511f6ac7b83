/** Files that a scenario names: lists of flows, networks, tables of sizes, jobs. */

import { useEffect, useRef, useState } from "preact/hooks";
import { isFile, MOST_FILES, MOST_TEXT, sizeOf, type Experiment } from "./experiment";
import { quantityOf } from "./size";

type Kept = Experiment["files"];

interface Props {
  files: Kept;
  /** Names that the scenario has; null while it cannot be read. */
  named: string[] | null;
  /** Names of which there is no file. */
  lacked: string[];
  /** Takes what the files become of what they are. Raises an error that says why they do not. */
  onChange: (to: (old: Kept) => Kept) => void;
}

/** Letters of a file that are shown. */
const MOST_SHOWN = 20_000;

/** Examples of what files have in them, by what names them. */
export const EXAMPLES: [string, string][] = [
  ["flows", "start,source,destination,size\n1ms,0,4,50kB"],
  ["a network", 'hosts = ["a", "b"]\nswitches = ["s"]\n'
    + 'links = [\n  { a = "a", b = "s", rate = "10Gbps", delay = "1us" },\n'
    + '  { a = "b", b = "s", rate = "10Gbps", delay = "1us" },\n]'],
  ["sizes", "size,cumulative\n1kB,0\n10kB,0.9\n1MB,1"],
  ["a job", "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}"],
];

const told = (count: number) => count.toLocaleString("en-US");

/** The last part of a name. */
export const baseOf = (name: string) => name.split("/").at(-1)!;

/** Names of files that a scenario lacks and that a file may have. */
export const lackedOf = (named: string[], files: Kept) => named.filter((name) => (
  isFile(name) && !files.some(([held]) => held === name)));

/**
 * Files with others. Each has the name by which the scenario lacks it, or that of the file that it replaces. Raises an
 * error that says what is wrong.
 */
export function withFiles(files: Kept, added: Kept, lacked: string[]): Kept {
  const all = new Map(files);
  const left = new Set(lacked);
  for (const [name, text] of added) {
    if (!isFile(name)) throw new Error(`${name.slice(0, 100)}: no address holds a file of this name`);
    // letters with marks are written in more than one way
    const like = (names: Iterable<string>) => [...names].filter((one) => (
      baseOf(one).normalize() === name.normalize()));
    const [wanted, held] = [like(left), like(all.keys())];
    if (!wanted.length && !all.has(name) && held.length > 1) {
      throw new Error(`${name} may be ${held.join(" or ")}: remove the one whose place it takes, and add it again`);
    }
    const own = [...wanted, ...held].find((one) => one === name) ?? wanted[0] ?? held[0] ?? name;
    left.delete(own);
    all.set(own, text);
  }
  if (all.size > MOST_FILES) throw new Error(`${all.size} files: an address holds ${MOST_FILES}`);
  const size = [...all.values()].reduce((sum, text) => sum + sizeOf(text), 0);
  if (size > MOST_TEXT) {
    throw new Error(`the files have ${told(size)} bytes together; an address holds ${told(MOST_TEXT)}`);
  }
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function textOf(file: File): Promise<[string, string]> {
  // a large file is refused before it is read
  if (file.size > MOST_TEXT) {
    throw new Error(`${file.name} has ${told(file.size)} bytes; an address holds ${told(MOST_TEXT)}`);
  }
  const bytes = await file.arrayBuffer().catch(() => { throw new Error(`${file.name} cannot be read`); });
  try {
    return [file.name, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)];
  } catch {
    throw new Error(`${file.name} is not a text file (UTF-8)`);
  }
}

export function Files({ files, named, lacked, onChange }: Props) {
  const [wrong, setWrong] = useState("");
  const isEmpty = !files.length && !lacked.length;
  const input = useRef<HTMLInputElement>(null);
  const add = async (chosen: FileList | null | undefined) => {
    if (!chosen?.length) return;
    try {
      const added = await Promise.all([...chosen].map(textOf));
      onChange((old) => withFiles(old, added, lacked));
      setWrong("");
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  useEffect(() => {
    const dropped = (event: DragEvent) => { void add(event.dataTransfer?.files); };
    addEventListener("drop", dropped);
    return () => { removeEventListener("drop", dropped); };
  });
  return (
    <section class="files" aria-label="Files">
      <span class="line">
        <h3>Files</h3>
        {isEmpty && <span class="soft">flows, networks, sizes or jobs of your own</span>}
        <input ref={input} type="file" multiple hidden aria-label="Files to add" onChange={(event) => {
          const field = event.currentTarget;
          void add(field.files).then(() => { field.value = ""; });
        }} />
        <button class="btn" onClick={() => { input.current!.click(); }}>Add a file…</button>
      </span>
      {!isEmpty && (
        <ul>
          {lacked.map((name) => <li class="wrong"><code>{name}</code> is missing</li>)}
          {files.map(([name, text]) => (
            <li>
              <details>
                <summary><code>{name}</code></summary>
                <pre tabIndex={0}>{text.slice(0, MOST_SHOWN)}{text.length > MOST_SHOWN && "…"}</pre>
              </details>{" "}
              <span class="soft">{quantityOf(sizeOf(text), "B")}
                {named?.includes(name) === false && ", not named by the scenario"}</span>{" "}
              <button class="btn quiet" aria-label={`Remove ${name}`}
                onClick={() => { onChange((old) => old.filter(([other]) => other !== name)); }}>×</button>
            </li>
          ))}
        </ul>
      )}
      {lacked.length > 0 && (
        <details class="soft">
          <summary>What is in such files</summary>
          <dl>{EXAMPLES.map(([of, text]) => <><dt>{of}</dt><dd><pre>{text}</pre></dd></>)}</dl>
        </details>
      )}
      {wrong && <p class="wrong" role="alert">{wrong}</p>}
    </section>
  );
}
