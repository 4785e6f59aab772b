/** What the reader has chosen, as the page's address keeps it: `#for=phone&sort=memory`. */

const chosen = (): URLSearchParams => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

/** What was chosen under a name; null where nothing was. */
export const choice = (name: string): string | null => chosen().get(name);

/** Keeps a choice, or forgets it. */
export function keep(name: string, value: string | null): void {
  const all = chosen();
  if (value === null) all.delete(name);
  else all.set(name, value);
  const text = all.toString();
  history.replaceState(null, "", text === "" ? location.pathname + location.search : `#${text}`);
}
