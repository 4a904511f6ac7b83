/** What stands instead of the page where it cannot be shown. */

import { Component, type ComponentChildren } from "preact";

export function Refused({ children }: { children: ComponentChildren }) {
  return <p class="told damaged" role="alert">{children}</p>;
}

interface Props {
  say: (error: unknown) => string;
  children: ComponentChildren;
}

/** A fault while the page draws is told in words: it would leave the page half drawn. */
export class Boundary extends Component<Props, { error: unknown; failed: boolean }> {
  override state = { error: null as unknown, failed: false };

  static override getDerivedStateFromError(error: unknown) {
    return { error, failed: true };
  }

  override render() {
    const { error, failed } = this.state;
    return failed ? <Refused>{this.props.say(error)}</Refused> : this.props.children;
  }
}
