/** Launches a real Chromium. Its pages record errors, policy violations and requests to other hosts. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findProgram } from "../groups/programs.ts";

/** Longer than any step takes on a busy machine, and shorter than a test's timeout, so that a failure names the step. */
const STEP_TIMEOUT_MS = 60_000;

export function launchBrowser(): Promise<Browser> {
  const executablePath = findProgram("Chromium");
  if (executablePath === null) throw new Error("Cannot find Chromium in PATH or CHROMIUM_PATH");
  // Page scripts run once. Optimizing compilation costs a fifth of the processor time and saves none.
  const args = ["--js-flags=--no-opt --no-maglev --single-threaded-gc"];
  // Chromium's sandbox does not work for root, and tests in containers run as root.
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  return chromium.launch({ executablePath, args });
}

export interface Visit extends AsyncDisposable {
  page: Page;
  /** Exceptions, console errors and warnings, content security policy violations, and requests to other hosts. */
  faults: string[];
}

/** Chromium's console message about a 4xx response. `faults` omits it, because tests provoke such responses. */
const STATUS_NOTE = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** Opens a browser context with the session cookie of `token`, if given, and an empty page in it. */
export async function openVisit(
  browser: Browser,
  options: { origin: string; token?: string } & BrowserContextOptions,
): Promise<Visit> {
  const { origin, token, ...contextOptions } = options;
  const context = await browser.newContext({ baseURL: origin, ...contextOptions });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  if (token) await context.addCookies([{ name: "ulr_session", value: token, url: origin, httpOnly: true }]);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`exception: ${error.message}`));
  page.on("console", (message) => {
    const isNote = STATUS_NOTE.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isNote) faults.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`request to ${request.url()}`);
  });
  return {
    page,
    faults,
    [Symbol.asyncDispose]: () => context.close(),
  };
}
