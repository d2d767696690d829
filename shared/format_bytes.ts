/** Formats file sizes for pages and mails. */

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

/** The fraction of a unit from which the unit is used. A smaller value does not round to 1,000 of the next smaller unit. */
const FULL_UNIT = 0.9995;

/** Formats a size in powers of 1000, such as `512 bytes` or `2.5 MB`. */
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
