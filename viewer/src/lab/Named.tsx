/** Curves under the names of a figure's series. */

import { createContext, type ComponentProps } from "preact";
import { useContext, useMemo } from "preact/hooks";
import { Plot, type Curve } from "../panes/Plot";

/** Names of controllers by their texts. */
export const Names = createContext<ReadonlyMap<string, string>>(new Map());

/** Curves with the names of their controllers; the job that a label ends with stays. */
export const called = (curves: Curve[], names: ReadonlyMap<string, string>): Curve[] => curves.map((curve) => {
  const [text = "", ...job] = names.has(curve.label) ? [curve.label] : curve.label.split(/(?=, [^,]*$)/);
  return { ...curve, label: [names.get(text) ?? text, ...job].join("") };
});

export function NamedPlot({ curves, ...others }: ComponentProps<typeof Plot>) {
  const names = useContext(Names);
  const named = useMemo(() => called(curves, names), [curves, names]);
  return <Plot {...others} curves={named} />;
}
