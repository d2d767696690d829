/** Creates a request as handlers receive it, without an app. */
import { bindContext, newContext, type RequestContext } from "../../../api/http/request_context.ts";

/** Creates an anonymous caller's request with its context. */
export function handlerRequest(
  network: string,
  signal?: AbortSignal,
): { request: Request; context: RequestContext } {
  const request = new Request("http://localhost/", signal ? { signal } : {});
  const connection = {
    isOpen: () => true,
    whenOver: async () => true,
    mayBeSilent: () => {},
    acknowledgedBytes: () => null,
    reset: () => {},
  };
  const arrived = newContext(request, { url: new URL(request.url), address: network, connection });
  const context = { ...arrived, network, isAdmitted: true };
  bindContext(request, context);
  return { request, context };
}
