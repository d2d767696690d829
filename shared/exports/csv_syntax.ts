/** What all CSV files have in common (docs/contract.md, Exports). */

/** Tells a spreadsheet that the file is UTF-8. */
export const BYTE_ORDER_MARK = "\uFEFF";

/** First characters that make a spreadsheet read a cell as a formula, full-width forms too. */
export const FORMULA_STARTS: readonly string[] = [..."=+-@\t\r\n＝＋－＠"];
