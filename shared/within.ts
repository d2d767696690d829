/** Waiting for something, but not for ever. */

/** Gives up after `timeoutMs`; what it waited for goes on, and its failure is not lost but no longer of interest. */
export async function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Cannot wait longer than ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
