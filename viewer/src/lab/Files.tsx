/** Files that a scenario names: lists of flows, networks, tables of sizes, jobs. */

import { useRef, useState } from "preact/hooks";
import { MOST_FILES, MOST_TEXT, sizeOf, type Experiment } from "./experiment";
import { quantityOf } from "./size";

type Kept = Experiment["files"];

interface Props {
  files: Kept;
  /** Names that the scenario has; null while it cannot be read. */
  named: string[] | null;
  /** Names of which there is no file. */
  lacked: string[];
  onChange: (files: Kept) => void;
}

const told = (count: number) => count.toLocaleString("en-US");

/** The last part of a name. */
export const baseOf = (name: string) => name.split("/").at(-1)!;

/** Files with others, each under the name by which the scenario lacks it. Raises an error that says what is wrong. */
export function withFiles(files: Kept, added: Kept, lacked: string[]): Kept {
  const all = new Map(files);
  for (const [name, text] of added) {
    const wanted = [name, lacked.find((one) => baseOf(one) === name)].find((one) => one && lacked.includes(one));
    all.set(wanted ?? name, text);
  }
  if (all.size > MOST_FILES) throw new Error(`${all.size} files: an address holds ${MOST_FILES}`);
  const size = [...all.values()].reduce((sum, text) => sum + sizeOf(text), 0);
  if (size > MOST_TEXT) {
    throw new Error(`the files have ${told(size)} bytes together; an address holds ${told(MOST_TEXT)}`);
  }
  return [...all];
}

async function textOf(file: File): Promise<[string, string]> {
  // a large file is refused before it is read
  if (file.size > MOST_TEXT) {
    throw new Error(`${file.name} has ${told(file.size)} bytes; an address holds ${told(MOST_TEXT)}`);
  }
  try {
    return [file.name, new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer())];
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
      onChange(withFiles(files, await Promise.all([...chosen].map(textOf)), lacked));
      setWrong("");
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  return (
    <section class="files" aria-label="Files"
      onDragOver={(event) => { event.preventDefault(); }}
      onDrop={(event) => {
        event.preventDefault();
        void add(event.dataTransfer?.files);
      }}>
      <span class="line">
        <h3>Files</h3>
        {isEmpty && <span class="soft">flows, networks, sizes, jobs that the scenario names</span>}
        <input ref={input} type="file" multiple hidden aria-label="Files to add" onChange={(event) => {
          const field = event.currentTarget;
          void add(field.files).then(() => { field.value = ""; });
        }} />
        <button class="btn" onClick={() => { input.current!.click(); }}>Add a file…</button>
      </span>
      {!isEmpty && (
        <ul>
          {lacked.map((name) => <li class="wrong"><code>{name}</code> is lacking</li>)}
          {files.map(([name, text]) => (
            <li>
              <code>{name}</code>{" "}
              <span class="soft">{quantityOf(sizeOf(text), "B")}
                {named?.includes(name) === false && ", not named by the scenario"}</span>{" "}
              <button class="btn quiet" aria-label={`Remove ${name}`}
                onClick={() => { onChange(files.filter(([other]) => other !== name)); }}>×</button>
            </li>
          ))}
        </ul>
      )}
      {wrong && <p class="wrong" role="alert">{wrong}</p>}
    </section>
  );
}
