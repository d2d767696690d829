/** A real Chromium, with pages that record everything that goes wrong. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findProgram } from "../groups/programs.ts";

/** Longer than any step takes on a busy machine; a failing test says earlier what it waited for. */
const STEP_TIMEOUT_MS = 60_000;

export function launchBrowser(): Promise<Browser> {
  const executablePath = findProgram("Chromium");
  if (executablePath === null) throw new Error("Cannot find Chromium in PATH or CHROMIUM_PATH");
  // Scripts of a page run once, so compiling them well costs a fifth of the processor time and saves none.
  const args = ["--js-flags=--no-opt --no-maglev --single-threaded-gc"];
  // Its sandbox does not work for root, the user of tests in containers.
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  return chromium.launch({ executablePath, args });
}

export interface Visit extends AsyncDisposable {
  page: Page;
  /** Exceptions, console errors, violations of the content security policy, and requests to other hosts. */
  faults: string[];
}

/** Chromium's message about an unsuccessful response; pages expect some, and tests check what they say. */
const STATUS_NOTE = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** Opens a page with this session, or without one. */
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
