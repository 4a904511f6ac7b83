/** Error message instead of a page that cannot be shown. */

import { Component, type ComponentChildren } from "preact";

export function Refused({ children }: { children: ComponentChildren }) {
  return <p class="told damaged" role="alert">{children}</p>;
}

interface Props {
  say: (error: unknown) => string;
  children: ComponentChildren;
}

/** Shows an error of drawing as a message instead of a half-drawn page. */
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
