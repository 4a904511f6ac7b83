import { copyFileSync, readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/** Where `make lab` leaves the engine, and beside it the packed one (tools/packed_engine.py). */
const ENGINE = process.env.INCAST_ENGINE ?? "../target/wasm32-unknown-unknown/web/incast_web.wasm";

/** The page carries the engine, packed, so that one file is the whole lab; it goes into the package. */
const engine: Plugin = {
  name: "engine",
  transformIndexHtml: {
    order: "post",
    handler(html) {
      const [, version = ""] = /^version = "(.*)"/m.exec(readFileSync("../Cargo.toml", "utf8")) ?? [];
      const packed = readFileSync(`${ENGINE}.lzma`).toString("base64");
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
