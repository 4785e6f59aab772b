/**
 * Formats numbers as `crates/report/src/format.rs` does, so that the page and the terminal agree.
 */

import type { Column } from "./data";

export const NOT_MEASURED = "-";

/** Formats a time in ns: `3.21 µs`. */
export const duration = (ns: number): string => scaled(ns, ["ns", "µs", "ms", "s"]);

/** Formats bytes with decimal units: `12.3 MB`. */
export function bytes(count: number): string {
  return Math.abs(count) < 999.5 ? `${Math.round(count)} B` : scaled(count, ["B", "kB", "MB", "GB", "TB"]);
}

/** Formats joules: `12.3 µJ`, `842 J`. */
export const joules = (energy: number): string => scaled(energy * 1e9, ["nJ", "µJ", "mJ", "J", "kJ", "MJ"]);

/** Formats watts: `842 mW`, `3.21 W`. */
export const watts = (power: number): string => scaled(power * 1e3, ["mW", "W", "kW"]);

/** Formats a ratio: `1.00x`, `1,234x`. */
export const ratio = (value: number): string => (Number.isFinite(value) ? `${significant(value)}x` : NOT_MEASURED);

/** Formats a count: `1,000,000`. */
export const count = (number: number): string => grouped(String(Math.round(number)));

/** Formats a count and its noun, which is singular for one. */
export const counted = (number: number, noun: string): string => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** Returns the function that formats numbers of a quantity. */
export function amount(quantity: Column["quantity"]): (value: number) => string {
  const shares = (share: number) => `${(100 * share).toFixed(1)} %`;
  return { time: duration, bytes, count, number: significant, ratio, share: shares, energy: joules, power: watts }[quantity];
}

/** Returns `show(value)`, or a dash. */
export function orDash<T>(value: T | null | undefined, show: (value: T) => string): string {
  return value === null || value === undefined ? NOT_MEASURED : show(value);
}

/** Shortens a text to a number of characters that an axis has room for. */
export const clipped = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Formats three significant digits, and always all digits before the point. */
export function significant(value: number): string {
  if (value === 0) return "0";
  const decimals = Math.min(17, Math.max(0, 2 - exponent(value)));
  return grouped(value.toFixed(decimals));
}

function scaled(value: number, units: string[]): string {
  if (!Number.isFinite(value)) return NOT_MEASURED;
  let unit = 0;
  while (unit + 1 < units.length && exponent(value) >= 3) {
    value /= 1000;
    unit += 1;
  }
  return `${significant(value)} ${units[unit]}`;
}

/** Returns the decimal exponent after rounding to three significant digits. */
function exponent(value: number): number {
  return value === 0 ? 0 : Number(value.toExponential(2).split("e")[1]);
}

function grouped(number: string): string {
  const [whole = "", fraction] = number.split(".");
  const digits = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}
