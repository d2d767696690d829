/** Downloads as somebody from outside makes them. */

/** Downloads by curl and throws the bytes away; throws unless the answer is a success and whole. */
export async function download(url: string, key: string): Promise<void> {
  const curl = Bun.spawn(
    ["curl", "--silent", "--show-error", "--fail", "--output", "/dev/null", "--header", "@-", url],
    // On standard input, so that the key stands in no list of processes.
    { stdin: new TextEncoder().encode(`Authorization: Bearer ${key}\n`), stderr: "pipe" },
  );
  const [stderr, exitCode] = await Promise.all([new Response(curl.stderr).text(), curl.exited]);
  if (exitCode !== 0) throw new Error(`Cannot download ${url}: ${stderr}`);
}
