/** Peak memory of another process, from Linux's own accounting. */
import { readFile, writeFile } from "node:fs/promises";

/** Bytes the process holds now. */
export async function residentBytes(pid: number): Promise<number> {
  return readStatus(pid, "VmRSS");
}

/** Bytes the process held at most since `resetPeak`. */
export async function peakBytes(pid: number): Promise<number> {
  return readStatus(pid, "VmHWM");
}

/** Forgets the peak: it begins again at what is held now. */
export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, "5");
}

async function readStatus(pid: number, field: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const [, kibibytes = "0"] = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
  return Number(kibibytes) * 1024;
}
