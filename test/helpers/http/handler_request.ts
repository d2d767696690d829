/** A request as handlers see it, without an app. */
import { bindContext, type RequestContext } from "../../../api/http/request_context.ts";

/** Makes a request of an anonymous caller, with its context. */
export function handlerRequest(
  network: string,
  signal?: AbortSignal,
): { request: Request; context: RequestContext } {
  const request = new Request("http://localhost/", signal ? { signal } : {});
  const context: RequestContext = {
    request,
    url: new URL(request.url),
    requestId: "id",
    ownRequestId: "id",
    method: "GET",
    address: network,
    connection: {
      isOpen: () => true,
      whenOver: async () => true,
      mayBeSilent: () => {},
      acknowledgedBytes: () => null,
      reset: () => {},
    },
    network,
    userAgent: null,
    startedAt: 0,
    isAdmitted: true,
    mayWrite: true,
    span: null,
    route: null,
    writes: false,
    caller: null,
    authorization: null,
    orgId: null,
    usesCookie: false,
    idempotencyKey: null,
    body: {},
    error: null,
    responseHeaders: {},
    fields: {},
    streamEnd: null,
    callApi: null,
  };
  bindContext(request, context);
  return { request, context };
}
