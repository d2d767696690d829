/** A line of growth: what a unit costs, and what it costs where there are ten times as many. */
import { type Cell, type FigureTable, figure, type Goal } from "./figures.ts";

/** Issue 7: linear, that is no more a unit; a tenth is for the noise of the machine. */
const LINEAR_GOAL = { atMost: 1.1 };

export const GROWTH_HEADER = ["cost", "once", "ten times", "growth"];

export type Growth = Omit<FigureTable, "header">;

export function growthRow(
  name: string,
  { small, large, goal = LINEAR_GOAL }: { small: number; large: number; goal?: Goal },
): Cell[] {
  return [name, figure(small, 2), figure(large, 2), figure(large / small, 2, goal)];
}
