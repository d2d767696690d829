/** Parses `Accept` and `Accept-Encoding`, which are lists of values with weights (RFC 9110, section 12.4.2). */

/** Returns the values in list order, in lower case. An invalid weight is NaN, for which every comparison is false. */
export function parseAcceptedValues(header: string | null): { value: string; weight: number }[] {
  const items = (header ?? "").toLowerCase().split(",");
  return items.map((item) => {
    const [value = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return { value, weight: weight === undefined ? 1 : Number(weight) };
  });
}
