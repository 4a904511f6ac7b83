import { copyFileSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/** Where `make lab` leaves the engine. */
const ENGINE = process.env.INCAST_ENGINE ?? "../target/wasm32-unknown-unknown/web/incast_web.wasm";

/** A module without its custom sections, such as the names of functions. */
function bare(module: Buffer): Buffer {
  const parts = [module.subarray(0, 8)];
  for (let at = 8; at < module.length;) {
    let [length, shift, from] = [0, 0, at + 1];
    for (let byte = 128; byte >= 128; shift += 7) {
      byte = module[from++]!;
      length += (byte & 127) * 2 ** shift;
    }
    if (module[at] !== 0) parts.push(module.subarray(at, from + length));
    at = from + length;
  }
  return Buffer.concat(parts);
}

/** The page carries the engine, packed, so that one file is the whole lab; it goes into the package. */
const engine: Plugin = {
  name: "engine",
  transformIndexHtml: {
    order: "post",
    handler(html) {
      const [, version = ""] = /^version = "(.*)"/m.exec(readFileSync("../Cargo.toml", "utf8")) ?? [];
      const packed = gzipSync(bare(readFileSync(ENGINE)), { level: 9 }).toString("base64");
      const element = `<script type="text/plain" id="incast-engine">${packed}</script>`;
      return html.replace("<!--incast-engine-->", () => element)
        .replace('name="incast-version" content=""', `name="incast-version" content="${version}"`);
    },
  },
  writeBundle() {
    copyFileSync("dist-lab/lab.html", "../python/incast/view/lab.html");
  },
};

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), engine],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  worker: { format: "iife" },
  build: { target: "es2022", outDir: "dist-lab", chunkSizeWarningLimit: 4000, rollupOptions: { input: "lab.html" } },
});
