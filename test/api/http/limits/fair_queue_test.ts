import { expect, test } from "bun:test";
import { Turns } from "../../../../api/http/limits/fair_queue.ts";
import { bindContext, type RequestContext } from "../../../../api/http/request_context.ts";
import { ApiError } from "../../../../shared/errors.ts";

/** A request of an anonymous caller, as handlers see it. */
function requestOf(network: string, signal?: AbortSignal): { request: Request; context: RequestContext } {
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

test("a free slot goes to each caller in turn, however many of one wait", async () => {
  const turns = new Turns({ max: 1, maxWaiting: 3, what: "tests" });
  const order: string[] = [];
  const end = Promise.withResolvers<void>();
  const run = (network: string, name: string) =>
    turns.run(requestOf(network).request, async () => {
      order.push(name);
      await end.promise;
    });
  const all = [
    run("a", "a1"),
    run("a", "a2"),
    run("a", "a3"),
    run("a", "a4"),
    run("b", "b1"),
    run("c", "c1"),
  ];
  await expect(run("a", "a5")).rejects.toMatchObject({
    code: "RATE_LIMITED",
    details: { share: "network", limit: 4 },
  });
  end.resolve();
  await Promise.all(all);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "a4"]);
});

test("a request that was aborted or answered leaves, and makes room for the caller's next one", async () => {
  const turns = new Turns({ max: 1, maxWaiting: 2, what: "tests" });
  const end = Promise.withResolvers<void>();
  const ran: string[] = [];
  const first = turns.run(requestOf("a").request, () => end.promise);
  const abort = new AbortController();
  const answered = requestOf("a");
  const left = Promise.allSettled(
    [requestOf("a", abort.signal), answered].map(({ request }) =>
      turns.run(request, async () => void ran.push("left")),
    ),
  );
  abort.abort();
  answered.context.error = new ApiError("SERVICE_UNAVAILABLE");
  const next = turns.run(requestOf("a").request, async () => void ran.push("next"));
  const refused = { status: "rejected", reason: { code: "SERVICE_UNAVAILABLE" } };
  expect(await left).toMatchObject([refused, refused]);
  end.resolve();
  await Promise.all([first, next]);
  expect(ran).toEqual(["next"]);
});

test("a task that fails gives its turn back", async () => {
  const turns = new Turns({ max: 1, maxWaiting: 1, what: "tests" });
  const failing = turns.run(requestOf("a").request, () => Promise.reject(new Error("broke")));
  const next = turns.run(requestOf("a").request, async () => "went on");
  await expect(failing).rejects.toThrow("broke");
  expect(await next).toBe("went on");
});
