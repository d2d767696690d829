/** GET /metrics, for Prometheus. */
import { operation, reply } from "../http/operation.ts";

export const getMetrics = operation(
  {
    id: "getMetrics",
    method: "GET",
    path: "/metrics",
    access: "public",
    tag: "Operations",
    summary: "Get metrics for Prometheus",
    description:
      "Metrics of this process and of the shared job queue, at most one second old. If the operator sets `METRICS_PORT`, " +
      "they are on that port only.",
    // Scrapers may add query parameters.
    uncheckedQuery: {},
    response: {
      200: {
        description: "Prometheus text format",
        files: { "text/plain": "# TYPE catalog_models gauge\ncatalog_models 2841\n" },
      },
    },
  },
  async (_, { metrics }) =>
    reply(200, await metrics.read(), { headers: { "Content-Type": metrics.registry.contentType } }),
);
