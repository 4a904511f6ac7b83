/** Tabs of a pane; the arrows go from one to the next. */

import type { ComponentChildren } from "preact";

interface Props {
  label: string;
  /** What each is, and what it is called. */
  tabs: [string, ComponentChildren][];
  shown: string;
  onChoose: (tab: string) => void;
  /** What else stands in their line. */
  children?: ComponentChildren;
}

export function Tabs({ label, tabs, shown, onChoose, children }: Props) {
  const keyed = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    // time does not go on with it
    event.stopPropagation();
    const at = tabs.findIndex(([own]) => own === shown);
    const [next] = tabs[(at + step + tabs.length) % tabs.length]!;
    onChoose(next);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-tab=${next}]`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={keyed}>
        {tabs.map(([own, words]) => (
          <button role="tab" data-tab={own} aria-selected={own === shown} tabIndex={own === shown ? 0 : -1}
            onClick={() => { onChoose(own); }}>{words}</button>
        ))}
      </div>
      {children}
    </div>
  );
}
