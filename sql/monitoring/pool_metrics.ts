/** Metrics of database connections: connections of a process's pools, and all connections of the server. */
import type { Registry } from "prom-client";
import { registerGauge, registerMeasuredGauges } from "../../shared/monitoring/measured_gauge.ts";
import type { Log } from "../../shared/process/log.ts";
import { type Pool, readPoolUsage, type Sql } from "../connection/pool.ts";

/** Registers the gauges of all pools of a process. The keys of `pools` become the label `pool`. */
export function registerPoolMetrics(registry: Registry, pools: Readonly<Record<string, Pool>>): void {
  const register = (name: string, help: string, read: (pool: Pool) => number): void => {
    registerGauge(registry, {
      name,
      help,
      labelNames: ["pool"],
      read: () => Object.entries(pools).map(([pool, opened]) => ({ labels: { pool }, value: read(opened) })),
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

/** Registers the gauges of the server's connections from all clients, which are measured at each scrape. */
export function registerServerConnections(registry: Registry, { sql, log }: { sql: Sql; log: Log }): void {
  registerMeasuredGauges(
    { registry, log },
    [
      { name: "database_connections", help: "Connections of all clients to the server of the database" },
      {
        name: "database_connections_max",
        help: "Connections that the server of the database accepts at most",
      },
    ],
    async () => {
      const [{ used, max }] = await sql<[{ used: number; max: number }]>`
        select count(*)::int as used, current_setting('max_connections')::int as max
        from pg_stat_activity
        where backend_type = 'client backend'
          -- sessions that this role may not see
          or (backend_type is null and datid is not null)`;
      return [used, max];
    },
  );
}
