/** Sizes of files in words, for pages and mails. */

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

/** The share of a unit from which on it is used: less of it does not round to 1,000 of the smaller one. */
const FULL_UNIT = 0.9995;

/** Returns `512 bytes`, `2.5 MB`, in powers of 1000. */
export function formatBytes(bytes: number): string {
  const power = Math.floor(Math.log10(Math.max(bytes / FULL_UNIT, 1)) / 3);
  const value = bytes / 1000 ** Math.min(power, UNITS.length - 1);
  return new Intl.NumberFormat("en-US", {
    style: "unit",
    unit: UNITS[power] ?? "terabyte",
    unitDisplay: power === 0 ? "long" : "short",
    maximumFractionDigits: value < 10 && power > 0 ? 1 : 0,
  }).format(value);
}
