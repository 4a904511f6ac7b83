/** What a browser remembers of a page; frames of notebooks and some files keep nothing. */

function stored(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

export function remembered(name: string): string | null {
  return stored()?.getItem(`incast-view-${name}`) ?? null;
}

export function remember(name: string, words: string | null): void {
  try {
    if (words === null) stored()?.removeItem(`incast-view-${name}`);
    else stored()?.setItem(`incast-view-${name}`, words);
  } catch {
    // it has no room: what is chosen is for this page alone
  }
}
