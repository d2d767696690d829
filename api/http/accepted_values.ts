/** The lists of `Accept` and `Accept-Encoding`: values with weights (RFC 9110, section 12.4.2). */

/** Returns the values in the order of the list, in lower case. An invalid weight is NaN, which is greater than no other. */
export function parseAcceptedValues(header: string | null): { value: string; weight: number }[] {
  const items = (header ?? "").toLowerCase().split(",");
  return items.map((item) => {
    const [value = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return { value, weight: weight === undefined ? 1 : Number(weight) };
  });
}
