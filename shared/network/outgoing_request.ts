/** Requests to hosts that strangers may have chosen: they reach only addresses that are allowed. */
import { getServers, type LookupAddress, Resolver, setServers } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { untilAborted } from "../process/with_timeout.ts";

/** Returns all addresses of a host. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** A response that has begun. Destroy it unless its body is read to the end. */
export type OutgoingResponse = IncomingMessage;

interface AddressCheck {
  /** Every address of the host must be allowed. */
  isAllowed(address: string): boolean;
  /** Creates the error for a host with another address or with none, or for one that cannot be resolved. */
  refusal(unresolved?: Error): Error;
  /** Asks `/etc/hosts` and DNS if omitted. */
  resolve?: Resolve | undefined;
}

export interface OutgoingRequest {
  method: "GET" | "POST";
  headers: Readonly<Record<string, string | number>>;
  body?: string;
  signal: AbortSignal;
  /** Unset for a host that the operator has chosen. */
  check?: AddressCheck;
}

/** Sends a request on a connection of its own, and returns the response as soon as it begins. Follows no redirect. */
export function sendRequest(
  url: URL,
  { method, headers, body, signal, check }: OutgoingRequest,
): Promise<OutgoingResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<OutgoingResponse>();
  const literal = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (check && isIP(literal) !== 0 && !check.isAllowed(literal)) return Promise.reject(check.refusal());
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const lookup = check ? { lookup: checkedLookup(check) } : {};
  const request = send(url.href, { method, headers, signal, agent: false, ...lookup });
  request.once("response", resolve).once("error", reject).end(body);
  // A look-up of names cannot be aborted.
  return untilAborted(promise, signal);
}

/**
 * Does not ask the C library, which holds a thread for each name. Files are read and written on the same few threads, so two
 * names whose servers are silent would stop every build.
 */
async function resolveName(hostname: string): Promise<LookupAddress[]> {
  try {
    return await Bun.dns.lookup(hostname, { backend: "c-ares" });
  } catch (error) {
    // c-ares reads `/etc/resolv.conf` once in a process. If it names other servers by now, later look-ups ask those.
    const servers = new Resolver().getServers();
    if (servers.join() !== getServers().join()) setServers(servers);
    throw error;
  }
}

/** Checks every address of a name. The connection is made to these very addresses, so no later look-up can differ. */
function checkedLookup({ isAllowed, refusal, resolve = resolveName }: AddressCheck): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (!first || !addresses.every(({ address }) => isAllowed(address))) return callback(refusal(), []);
        if (all) return callback(null, addresses);
        callback(null, first.address, first.family);
      },
      (error) => callback(refusal(error), []),
    );
  };
}
