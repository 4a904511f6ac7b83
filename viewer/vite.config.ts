import { copyFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/** The built file goes into the package, which carries it in its wheel. */
const carried: Plugin = {
  name: "carried",
  closeBundle() {
    copyFileSync("dist/index.html", "../python/incast/view/viewer.html");
  },
};

export default defineConfig(({ mode }) => ({
  plugins: mode === "test" ? [] : [viteSingleFile({ removeViteModuleLoader: true }), carried],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: { target: "es2022", chunkSizeWarningLimit: 1000 },
}));
