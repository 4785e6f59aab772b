/**
 * Loads data files. A page opened from disk can load scripts and nothing else, so each file is a
 * script that calls `embermark`.
 */

import { h } from "../dom";

declare global {
  interface Window {
    embermark: (name: string, data: unknown) => void;
  }
}

const arriving = new Map<string, (data: unknown) => void>();
const files = new Map<string, Promise<unknown>>();

window.embermark = (name, data) => arriving.get(name)?.(data);

/** Returns the content of `data/NAME.js`, which is loaded once. */
export function load<T>(name: string): Promise<T> {
  const known = files.get(name);
  if (known) return known as Promise<T>;
  const file = new Promise<T>((resolve, reject) => {
    const script = h("script", { src: `data/${name}.js` });
    const end = () => {
      arriving.delete(name);
      script.remove();
    };
    const fails = () => {
      // It may exist the next time.
      files.delete(name);
      end();
      reject(new Error(`data/${name}.js cannot be loaded: copy the whole folder of the site`));
    };
    arriving.set(name, (data) => resolve(data as T));
    script.addEventListener("load", () => {
      // A file that was cut off is not a valid script, and passes nothing on.
      if (arriving.has(name)) reject(new Error(`data/${name}.js is damaged: copy it again`));
      end();
    });
    script.addEventListener("error", fails);
    document.head.append(script);
  });
  files.set(name, file);
  return file;
}
