/** Sends requests to hosts that strangers may have chosen. Only allowed addresses can be reached. */
import { getServers, type LookupAddress, Resolver, setServers } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { untilAborted } from "../process/with_timeout.ts";

/** Resolves a host to all of its addresses. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** A response whose headers have arrived. Destroy it unless its body is read to the end. */
export type OutgoingResponse = IncomingMessage;

interface AddressCheck {
  /** Returns whether an address is allowed. All addresses of the host must be allowed. */
  isAllowed(address: string): boolean;
  /** Creates the error for a host with a disallowed address, without addresses, or that cannot be resolved. */
  refusal(unresolved?: Error): Error;
  /** Resolves the host. If omitted, `/etc/hosts` and DNS are used. */
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

/** Sends a request on its own connection, and returns the response as soon as it starts. Does not follow redirects. */
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
  // A name lookup cannot be aborted.
  return untilAborted(promise, signal);
}

/**
 * Resolves a host without the C library, which blocks a thread for each lookup. Files are read and written on the same few
 * threads, so two lookups at unresponsive servers would stop every build.
 */
async function resolveName(hostname: string): Promise<LookupAddress[]> {
  try {
    return await Bun.dns.lookup(hostname, { backend: "c-ares" });
  } catch (error) {
    // c-ares reads `/etc/resolv.conf` once per process. If the file lists different servers by now, later lookups use them.
    const servers = new Resolver().getServers();
    if (servers.join() !== getServers().join()) setServers(servers);
    throw error;
  }
}

/**
 * Returns a lookup that checks every address of a name. The connection uses the checked addresses, so a later lookup cannot
 * return others.
 */
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
