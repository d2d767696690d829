import { expect, test } from "bun:test";
import {
  createTurns,
  LISTS_WAITING_MAX,
  PUBLICATIONS_WAITING_MAX,
  type Turns,
  WRITES_WAITING_MAX,
} from "../../api/turns.ts";
import { ApiError } from "../../shared/errors.ts";
import { handlerRequest } from "../helpers/http/handler_request.ts";

const WAITING_MAX: [keyof Turns, number][] = [
  ["publications", PUBLICATIONS_WAITING_MAX],
  ["recordings", 200],
  ["writes", WRITES_WAITING_MAX],
  ["accounts", WRITES_WAITING_MAX],
  ["lists", LISTS_WAITING_MAX],
];

test.each(WAITING_MAX)(
  "%s of one caller are rejected over the limit, and other callers are served",
  async (kind, waitingMax) => {
    const { [kind]: inTurn } = createTurns({ databasePoolMax: 2 });
    const end = Promise.withResolvers<void>();
    const run = (network: string) => inTurn(handlerRequest(network).request, () => end.promise);
    const all = Array.from({ length: 1 + waitingMax }, () => run("a"));
    await expect(run("a")).rejects.toMatchObject({
      code: "RATE_LIMITED",
      headers: { "Retry-After": "2" },
      details: { share: "network", limit: 1 + waitingMax },
    });
    all.push(run("b"));
    end.resolve();
    await Promise.all(all);
  },
);

test("a request that was aborted or answered leaves the queue and makes room for its caller's next request", async () => {
  const { publications } = createTurns({ databasePoolMax: 2 });
  const end = Promise.withResolvers<void>();
  const ran: string[] = [];
  const first = publications(handlerRequest("a").request, () => end.promise);
  const abort = new AbortController();
  const answered = handlerRequest("a");
  const waiting = Array.from({ length: PUBLICATIONS_WAITING_MAX - 2 }, () => handlerRequest("a"));
  const staying = waiting.map(({ request }) => publications(request, async () => void ran.push("stayed")));
  const left = Promise.allSettled(
    [handlerRequest("a", abort.signal), answered].map(({ request }) =>
      publications(request, async () => void ran.push("left")),
    ),
  );
  abort.abort();
  answered.context.error = new ApiError("SERVICE_UNAVAILABLE");
  const next = publications(handlerRequest("a").request, async () => void ran.push("next"));
  const refused = {
    status: "rejected",
    reason: { code: "SERVICE_UNAVAILABLE", headers: { "Retry-After": "2" } },
  };
  expect(await left).toMatchObject([refused, refused]);
  end.resolve();
  await Promise.all([first, next, ...staying]);
  expect(ran).toEqual([...staying.map(() => "stayed"), "next"]);
});
