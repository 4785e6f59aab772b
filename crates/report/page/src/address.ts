/** The reader's choices, as the page's address keeps them: `#for=phone&sort=memory`. */

const chosen = (): URLSearchParams => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

/** Returns the value of a choice, or null if the address does not have it. */
export const choice = (name: string): string | null => chosen().get(name);

/** Keeps a choice, or removes it. */
export function keep(name: string, value: string | null): void {
  const all = chosen();
  if (value === null) all.delete(name);
  else all.set(name, value);
  const text = all.toString();
  history.replaceState(null, "", text === "" ? location.pathname + location.search : `#${text}`);
}
