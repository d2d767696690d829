/** A real Chromium, and pages in it that tell of everything that went wrong. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const CHROMIUM_PATHS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Longer than any step takes on a busy machine; a test that fails says sooner what it waited for. */
const STEP_TIMEOUT_MS = 60_000;

function findChromium(): string {
  const given = process.env["CHROMIUM_PATH"];
  const path = given ?? CHROMIUM_PATHS.find((candidate) => existsSync(candidate));
  if (!path || !existsSync(path)) {
    throw new Error(
      "Cannot find Chromium: install it (Debian and Ubuntu: `apt-get install chromium`) or set CHROMIUM_PATH",
    );
  }
  return path;
}

export function launchBrowser(): Promise<Browser> {
  // Its sandbox does not work for root, as which tests run in containers.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: findChromium(), args });
}

export interface Visit extends AsyncDisposable {
  page: Page;
  /** Exceptions, errors on the console, breaches of the policy, and requests to other hosts. */
  faults: string[];
}

/** Chromium's own note that an answer was no success; pages expect some of those, and tests look at what they say. */
const STATUS_NOTE = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** Opens a page for somebody with this session, or nobody. */
export async function openVisit(
  browser: Browser,
  options: { origin: string; token?: string } & BrowserContextOptions,
): Promise<Visit> {
  const { origin, token, ...contextOptions } = options;
  const context = await browser.newContext({ baseURL: origin, ...contextOptions });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  if (token) await context.addCookies([{ name: "session", value: token, url: origin, httpOnly: true }]);
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
