/** Reads that resolve references: dependencies, dependents and `includeRefs`. */
import { expect, test } from "bun:test";
import { resolveInTurn } from "../../../../api/definitions/dependencies/resolve_in_turn.ts";
import { yieldEventLoop } from "../../../../api/http/yield_event_loop.ts";
import { createTurns, LISTS_WAITING_MAX } from "../../../../api/turns.ts";
import { ApiError } from "../../../../shared/errors.ts";
import { ask, errorOf, publishAgent } from "../../../helpers/definitions/definitions.ts";
import { makeHub } from "../../../helpers/definitions/forest.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { handlerRequest } from "../../../helpers/http/handler_request.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const READS = ["/agent/base/dependencies", "/agent/base/dependents", "/agent/base?includeRefs=true"];

test("one caller's slow reads do not delay other callers' lists, and reads beyond the caller's share are refused", async () => {
  await using api = await openTestApp();
  const [person, other] = [await api.make.person(), await api.make.person()];
  await publishAgent(api, person, { name: "base" });
  const [running, waiting] = [Math.floor(api.deps.config.databasePoolMax / 4), LISTS_WAITING_MAX];
  const reads: Promise<unknown>[] = [];
  await api.db.owner.begin(async (tx) => {
    await tx`lock table definition_references in access exclusive mode`;
    const settled: Response[] = [];
    for (let n = 0; n <= running + waiting; n += 1) {
      const read = ask(api, READS[n % READS.length] ?? "", person);
      reads.push(read.then((response) => settled.push(response)));
    }
    const refused = await waitFor(() => settled[0]);
    expect(await errorOf(refused)).toEqual([
      429,
      "RATE_LIMITED",
      { share: "user", limit: running + waiting },
    ]);
    expect((await ask(api, "/agent/base", person)).status).toBe(200);
    expect((await ask(api, "?search=!!!", other)).status).toBe(200);
  });
  await Promise.all(reads);
  for (const path of READS) expect([path, (await ask(api, path, person)).status]).toEqual([path, 200]);
});

test("references that take too long to resolve return 503", async () => {
  await using api = await openTestApp({ config: { databasePoolMax: 10 } });
  const person = await api.make.person();
  await makeHub(api.db, person, "top");
  const paths = ["/agent/top/dependencies", "/agent/top?includeRefs=true"];
  const responses = await Promise.all(paths.map((path) => ask(api, path, person)));
  for (const response of responses) {
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      error: {
        code: "SERVICE_UNAVAILABLE",
        message: "Resolving the references took longer than 5 seconds. Try again later.",
      },
    });
  }
});

test("a read stops when its client disconnects or receives a timeout error", async () => {
  await using db = await openTestDatabase();
  const deps = { sql: db.sql, turns: createTurns({ databasePoolMax: 4 }) };
  const abort = new AbortController();
  const [left, answered] = [handlerRequest("a", abort.signal), handlerRequest("b")];
  const leaving: [Request, () => void][] = [
    [left.request, () => abort.abort()],
    [answered.request, () => (answered.context.error = new ApiError("SERVICE_UNAVAILABLE"))],
  ];
  for (const [request, leave] of leaving) {
    let steps = 0;
    const read = resolveInTurn(deps, request, async (_, onStep) => {
      while (steps < 1000) {
        steps += 1;
        if (steps === 3) leave();
        onStep();
        await yieldEventLoop();
      }
    });
    expect(await read.catch((error: unknown) => error)).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(steps).toBe(3);
  }
});
