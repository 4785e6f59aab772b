/**
 * The reader's position, as the page's address has it: `#/cell/RUN?engine=lmdb&workload=sensors`.
 */

/** Name of a view, and the choices in it. */
export interface Address {
  path: string[];
  chosen: URLSearchParams;
}

/** Returns the address of the page. Unreadable parts are left out. */
export function here(hash = location.hash): Address {
  const text = hash.replace(/^#\/?/, "");
  const at = text.indexOf("?");
  const [path, query] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  return { path: path.split("/").filter(Boolean).map(decoded), chosen: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the address of a view. */
export function to(path: string[], chosen: URLSearchParams | Record<string, string | undefined> = {}): string {
  const pairs = chosen instanceof URLSearchParams ? [...chosen] : Object.entries(chosen);
  const query = new URLSearchParams(pairs.flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const text = query.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Returns the same view with another choice. Null removes the choice. */
export function choosing(changes: Record<string, string | null>): string {
  const { path, chosen } = here();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) chosen.delete(name);
    else chosen.set(name, value);
  }
  return to(path, chosen);
}
