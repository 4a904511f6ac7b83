/** Starts the engine that the page carries, and shows the lab; says plainly where it cannot. */

import "uplot/dist/uPlot.min.css";
import "../app/style.css";
import "./lab.css";
import { render } from "preact";
import { Boundary, Refused } from "../app/Boundary";
import { Pool, type Thread } from "../engine/pool";
import Threads from "../engine/worker?worker&inline";
import { Lab } from "./Lab";
import { unlzma } from "./lzma";

/** The module: LZMA in base64, as `vite.lab.config.ts` puts it into the page. */
async function carried(): Promise<WebAssembly.Module> {
  const text = document.getElementById("incast-engine")?.textContent?.trim();
  if (!text) throw new Error("there is no engine in this page");
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return WebAssembly.compile(unlzma(bytes));
}

async function begin(): Promise<void> {
  const app = document.getElementById("app")!;
  const say = (error: unknown) => `The lab cannot be shown: ${error instanceof Error ? error.message : String(error)}.`;
  try {
    const module = await carried();
    const most = Math.max(1, Math.min(8, navigator.hardwareConcurrency || 2));
    const pool = new Pool(module, () => new Threads() as unknown as Thread, most);
    const version = document.querySelector("meta[name=incast-version]")?.getAttribute("content") ?? "";
    app.replaceChildren();
    render(<Boundary say={say}><Lab pool={pool} version={version} /></Boundary>, app);
    performance.mark("incast-lab-shown");
  } catch (error) {
    app.replaceChildren();
    render(<Refused>{say(error)}</Refused>, app);
  }
}

void begin();
