/** Where an axis has its labels: round prices, and days at even distances. Pure. */

/** Returns three to six round values from 0 to the first one that is not below `max`; 0 and 1 if `max` is 0. */
export function priceTicks(max: number): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 2.5, 5].find((factor) => factor * unit >= rough) ?? 10);
  const count = Math.ceil(max / step - 1e-9);
  // A sum of steps would show errors of binary fractions.
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** Returns instants at even distances, the begin and the end among them. */
export function timeTicks({ from, until }: { from: number; until: number }, count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + ((until - from) * i) / (count - 1));
}
