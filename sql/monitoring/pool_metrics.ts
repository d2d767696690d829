/** Metrics of a process's connection pools. */
import { Gauge, type Registry } from "prom-client";
import { type Pool, readPoolUsage } from "../connection/pool.ts";

/** Registers the gauges of all pools of a process. The keys of `pools` become the label `pool`. */
export function registerPoolMetrics(registry: Registry, pools: Readonly<Record<string, Pool>>): void {
  const register = (name: string, help: string, read: (pool: Pool) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ["pool"],
      registers: [registry],
      collect() {
        for (const [pool, opened] of Object.entries(pools)) this.set({ pool }, read(opened));
      },
    });
  };
  register(
    "database_pool_connections_in_use",
    "Connections of the pool that run a query or a transaction, or are being opened for one",
    (pool) => readPoolUsage(pool).inUse,
  );
  register(
    "database_pool_queries_waiting",
    "Queries and transactions that wait for a connection of the pool",
    (pool) => readPoolUsage(pool).waiting,
  );
  register(
    "database_pool_connections_max",
    "Connections that the pool opens at most",
    (pool) => pool.options.max,
  );
}
