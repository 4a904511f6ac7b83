/** Draws a raster into a canvas: by WebGL2 as one texture, or by a 2D canvas where that is not there. */

import type { Raster, Window } from "./raster";

export interface Painter {
  kind: "webgl2" | "2d";
  /** Take another raster, and its 256 colours. */
  load(raster: Raster, colours: Uint8Array): void;
  /** Show a window of it. */
  draw(seen: Window): void;
}

const VERTEX = `#version 300 es
out vec2 at;
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(at.x * 2. - 1., 1. - at.y * 2., 0, 1);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D steps, colours;
uniform vec4 part;
in vec2 at;
out vec4 colour;
void main() {
  vec2 place = part.xy + at * part.zw;
  float step = texture(steps, place).r * 255.;
  colour = texture(colours, vec2((step + .5) / 256., .5));
}`;

function part(raster: Raster, seen: Window): [number, number, number, number] {
  const [frames, rows] = [raster.frame1 - raster.frame0, raster.row1 - raster.row0];
  return [(seen.frame0 - raster.frame0) / frames, (seen.row0 - raster.row0) / rows,
    (seen.frame1 - seen.frame0) / frames, (seen.row1 - seen.row0) / rows];
}

function byTexture(canvas: HTMLCanvasElement): Painter | null {
  const gl = canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: true });
  if (!gl) return null;
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
    const shader = gl.createShader(kind);
    if (!shader) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  for (const [unit, name] of ["steps", "colours"].entries()) {
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const what of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) {
      gl.texParameteri(gl.TEXTURE_2D, what, gl.NEAREST);
    }
    for (const what of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) {
      gl.texParameteri(gl.TEXTURE_2D, what, gl.CLAMP_TO_EDGE);
    }
    gl.uniform1i(gl.getUniformLocation(program, name), unit);
  }
  const place = gl.getUniformLocation(program, "part");
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  let held: Raster | null = null;
  return {
    kind: "webgl2",
    load(raster, colours) {
      held = raster;
      gl.activeTexture(gl.TEXTURE0);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8, raster.width, raster.height, 0, gl.RED, gl.UNSIGNED_BYTE, raster.steps);
      gl.activeTexture(gl.TEXTURE1);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colours);
    },
    draw(seen) {
      if (!held) return;
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.uniform4f(place, ...part(held, seen));
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    },
  };
}

function byImage(canvas: HTMLCanvasElement): Painter | null {
  const context = canvas.getContext("2d");
  if (!context) return null;
  const aside = document.createElement("canvas");
  let held: Raster | null = null;
  return {
    kind: "2d",
    load(raster, colours) {
      held = raster;
      aside.width = raster.width;
      aside.height = raster.height;
      const image = new ImageData(raster.width, raster.height);
      raster.steps.forEach((step, i) => image.data.set(colours.subarray(step * 4, step * 4 + 4), i * 4));
      aside.getContext("2d")?.putImageData(image, 0, 0);
    },
    draw(seen) {
      if (!held) return;
      const [x, y, width, height] = part(held, seen);
      context.imageSmoothingEnabled = false;
      context.drawImage(aside, x * held.width, y * held.height, width * held.width, height * held.height, 0, 0,
        canvas.width, canvas.height);
    },
  };
}

export function painter(canvas: HTMLCanvasElement): Painter | null {
  return byTexture(canvas) ?? byImage(canvas);
}
