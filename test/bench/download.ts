/** Downloads as somebody from outside makes them. */

const OPTIONS = ["--silent", "--show-error", "--fail", "--write-out", "%{size_download}"];

/** Downloads by curl and throws the bytes away, or writes them; throws unless the answer is a success and whole. */
export async function download(
  url: string,
  { key, path = "/dev/null" }: { key: string; path?: string },
): Promise<{ bytes: number }> {
  const curl = Bun.spawn(
    ["curl", ...OPTIONS, "--output", path, "--header", "@-", url],
    // On standard input, so that the key stands in no list of processes.
    { stdin: new TextEncoder().encode(`Authorization: Bearer ${key}\n`), stdout: "pipe", stderr: "pipe" },
  );
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(curl.stdout).text(),
    new Response(curl.stderr).text(),
    curl.exited,
  ]);
  if (exitCode !== 0) throw new Error(`Cannot download ${url}: ${stderr}`);
  return { bytes: Number(stdout) };
}
