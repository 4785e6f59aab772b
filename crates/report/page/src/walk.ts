/** Arrow keys, Home and End inside a table of boxes. Each table is one stop of the Tab key. */

/** A box of a table. */
const BOX = "[data-box]";

/** Moves the focus from box to box. It is the key listener of the element with the tables. */
export function walk(event: KeyboardEvent): void {
  const box = (event.target as Element).closest<HTMLElement>(BOX);
  const row = box?.closest("tr");
  const body = row?.parentElement;
  if (!box || !row || !body) return;
  const column = [...row.children].indexOf(box.parentElement as Element);
  const line = [...body.children].indexOf(row);
  const at = (line: number, column: number) =>
    body.children[line]?.children[column]?.querySelector<HTMLElement>(BOX);
  const along = (lines: number, columns: number) => {
    for (let i = 1; i <= Math.max(body.children.length, row.children.length); i += 1) {
      const next = line + i * lines < 0 ? null : at(line + i * lines, column + i * columns);
      if (next) return next;
    }
    return null;
  };
  const targets: Record<string, () => HTMLElement | null | undefined> = {
    ArrowLeft: () => along(0, -1),
    ArrowRight: () => along(0, 1),
    ArrowUp: () => along(-1, 0),
    ArrowDown: () => along(1, 0),
    Home: () => row.querySelector<HTMLElement>(BOX),
    End: () => [...row.querySelectorAll<HTMLElement>(BOX)].pop(),
  };
  const target = targets[event.key];
  if (!target) return;
  event.preventDefault();
  const next = target();
  if (!next) return;
  for (const stop of body.querySelectorAll<HTMLElement>(`${BOX}[tabindex="0"]`)) stop.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
