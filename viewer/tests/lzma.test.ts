/** LZMA: bytes that Python has packed. */

import { describe, expect, it } from "vitest";
import { unlzma } from "../src/lab/lzma";

/** `lzma.compress` of the text below, as tools/packed_engine.py packs. */
const PACKED = (
    "BAAAAAQ+CwAAAAAAAAAYDvSHi114grY2THFEA75/cO+O0omFxvmcFmnHTnidcUvPi/oilTlXR0fnDqoEExGE3GzI3f9PRRGG8fuR"
  + "SoPEvkzx0TD/9PATDo3V2Vty8L3U3TmLME8Wm8zf/JD0ggQtgnRZzrDdvilwe7gsSsogZJV38EoM+JSANxfW6SPV3BkJkVqCrJxt"
  + "XaauiOBevfEqb5vWLt4us4WOokgNQkVcrAdRg0ukMDty1u34Kcj5XAO1QACWIs10jKrlM1j+jISFXt6lFn+96ccCDpAg0vW5MsSq"
  + "yPiawxl+sGvm3Jor1GerPhVmItxNOwdxRBxlZCN8K9EZzQM6awIRoDItwNuyb88fjRNgEccjgOiRNiYVh7aggCSvKiZZ1+r69TR9"
  + "HrlnQGu19yt4LCtChDjtuiFBWO5NTfdFZ5uHAzsOvEycpCGkwuVzN2lxY0gleXiyFe1cEIzF6idtGQv/KA91X7+bM1PFUpTdkVX/"
  + "yMRbeiAb0AuO1CKphz6dH/pViWfyMNdI2Kx+EKBw9V9CDPJl/wxcXQ8IyVbvosPIXmPq86LLQPdbuqarTWhtbZT18h8aaIR8QyCK"
  + "F9V3H1tZNAKGmDwX1XDxQr8oYZO+qK/G+wcFMB1tU+zhVaFlhEPWGsuYLqHeUJw+MMPD+WIG2kvvaftIxMQIXtQnll03DkDgJ6kB"
  + "IVrph17KFDgq08cyTIQWWlbSG4nTKWc5iOCslYgIiHTfpvWqt/P5VwFylcualMqG04KlhtySM8Rgz4e7MOwZg3/hbVOTmQRQAqTa"
  + "mw2uLVGrhTkdeQLmki5OWNeMbSC2XPThX6BVXuy2FktTxuPevbbk5fVYtiUB9kTk2D60KuOjPgrQ4mg3eb1oVy59h7QO9YHuchYo"
  + "9Ri4X1ZE2PdmqspAGg5aAjlHMpL3filey4c4heFCo0pAA1f55qvDXwV6O4tmCAr/yR4sAA=="
);

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "base64"));

describe("LZMA", () => {
  it("unpacks literals, matches and repeats", () => {
    const said = Array.from({ length: 120 }, (_, i) => `${i * 7919}: ${"abcabcab".repeat(i % 3)};`).join("");
    const wanted = Buffer.concat([Buffer.from(said), Uint8Array.from({ length: 256 }, (_, i) => i), Buffer.alloc(600)]);
    expect(Buffer.from(unlzma(bytesOf(PACKED))).equals(wanted)).toBe(true);
  });

  it("ends where bytes are damaged: with as many bytes, or an error", () => {
    const whole = bytesOf(PACKED);
    const { length } = unlzma(whole);
    let refused = 0;
    for (let at = 14; at < whole.length; at += 5) {
      const torn = whole.slice();
      torn[at]! ^= 0x55;
      try {
        expect(unlzma(torn)).toHaveLength(length);
      } catch (error) {
        expect(String(error)).toContain("the engine in this page is damaged");
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(0);
    expect(() => unlzma(whole.slice(0, 9))).toThrow();
  });
});
