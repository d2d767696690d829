/** The shipped units: systemd verifies them, and a running systemd executes the commands of docs/deploying.md. Needs root. */
import { expect, test } from "bun:test";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import postgres from "postgres";
import { runCommand } from "../helpers/process/command.ts";
import { listFiles, ROOT } from "../workspace/source_files.ts";
import { readCommands } from "./deploying_page.ts";
import { openLan } from "./lan.ts";
import { startLanPostgres } from "./lan_postgres.ts";
import { LATER } from "./newer_release.ts";
import { installForProduction } from "./production_install.ts";
import { type SystemdMachine, startSystemd } from "./systemd_machine.ts";

test("systemd-analyze verify reports no problems in the units", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-units-"));
  try {
    const units: string[] = [];
    for (const path of await listFiles("deploy/systemd/*.service")) {
      // systemd-analyze checks that programs and folders exist.
      const text = (await Bun.file(join(ROOT, path)).text())
        .replace("/usr/local/bin/bun", process.execPath)
        .replaceAll(/\/opt\/ulr(-%i)?/g, ROOT.replace(/\/$/, ""));
      const unit = join(directory, basename(path));
      await Bun.write(unit, text);
      units.push(unit);
    }
    const { exitCode, stdout, stderr } = await runCommand([
      "systemd-analyze",
      "verify",
      "--man=no",
      ...units,
    ]);
    expect([exitCode, stdout, stderr]).toEqual([0, "", ""]);
    // systemd-analyze only warns about unknown settings.
    const [first = ""] = units;
    await Bun.write(first, `${await Bun.file(first).text()}\n[Service]\nNoSuchSetting=yes\n`);
    const wrong = await runCommand(["systemd-analyze", "verify", "--man=no", first]);
    expect(wrong.stderr).toContain("NoSuchSetting");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

async function succeed(machine: SystemdMachine, script: string): Promise<string> {
  const { exitCode, stdout, stderr } = await machine.run(script);
  if (exitCode === 0) return stdout;
  const journal = await machine.run("journalctl --no-pager --output cat | tail -40");
  throw new Error(`Cannot run ${script}: ${stderr}${stdout}${journal.stdout}`);
}

/** Prints its arguments and stdin, and exits with 7. */
const ECHO = `const stdin = await Bun.stdin.text();
console.log(JSON.stringify([...Bun.argv.slice(2), stdin]));
process.exit(7);
`;

test("ulr-admin passes arguments and stdin to its unit, returns the exit code, and stops the unit if interrupted", async () => {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "ulr-admin-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  await runCommand(["chmod", "755", directory]);
  const release = join(directory, "ulr");
  await Bun.write(join(release, "api/admin/main.ts"), ECHO);
  const machine = opened.use(await startSystemd({ prefix: [] }, [release]));
  await succeed(machine, "install -d /etc/ulr; touch /etc/ulr/ulr.env");
  await succeed(machine, `install ${join(ROOT, "deploy/systemd/ulr-admin")} /usr/local/bin/`);

  const words = ["a$$b", `\${HOME}`, "$HOME", "$", "100%h", "it's", "", "two\nlines\n"];
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const echo = await machine.paste(`ulr-admin ${quoted}`, "typed\n");
  expect([echo.exitCode, echo.stderr]).toEqual([7, ""]);
  expect(JSON.parse(echo.stdout)).toEqual([...words, "typed\n"]);

  // Ctrl-C and a lost terminal signal every process of the group, and `kill` signals only one.
  for (const [signal, target, exitCode] of [
    ["INT", "-$pid", 130],
    ["HUP", "-$pid", 129],
    ["TERM", "$pid", 143],
  ] as const) {
    const { stdout } = await machine.run(`
      command='/usr/local/bin/bun api/admin/main.ts wait'
      setsid env --default-signal=INT ulr-admin wait < <(exec sleep 60 2> /dev/null) &
      pid=$!
      until pgrep --exact --full "$command" > /dev/null; do sleep 0.1; done
      kill -${signal} -- ${target}
      wait $pid || echo $?
      pgrep --exact --full "$command" || true
      systemctl list-units --all --no-legend 'ulr-admin-*'`);
    expect([signal, stdout]).toEqual([signal, `${exitCode}\n`]);
  }
});

/** Creates two release folders with the image's files and deploy/. The newer release has one more migration. */
async function makeReleases(directory: string): Promise<{ old: string; newer: string }> {
  await using install = await installForProduction();
  const [old, newer] = [join(directory, "ulr-1.0.0"), join(directory, "ulr-1.1.0")];
  for (const [folder, version] of [
    [old, "1.0.0"],
    [newer, "1.1.0"],
  ] as const) {
    await cp(install.root, folder, { recursive: true });
    await cp(join(ROOT, "deploy"), join(folder, "deploy"), { recursive: true });
    const manifest = await Bun.file(join(folder, "package.json")).json();
    await Bun.write(join(folder, "package.json"), JSON.stringify({ ...manifest, version }, null, 2));
  }
  const later = "alter table api_keys add column release_note text;";
  await Bun.write(join(newer, `sql/migrations/${LATER}.sql`), later);
  return { old, newer };
}

/** Shell code that waits until the first API is ready. */
const READY =
  "until curl -fs --fail-early http://127.0.0.1:13001/health/ready > /dev/null; do sleep 0.2; done";

/**
 * Kills the first API before each step of the recipe that changes the running release, and waits until systemd has
 * restarted the API.
 */
const KILL_BEFORE_EACH = `
crash() {
  case "$BASH_COMMAND" in systemctl*|ln*|cp*) ;; *) return 0;; esac
  pid=$(systemctl show --property MainPID --value ulr-api@3001)
  kill -KILL "$pid"
  while [ "$(systemctl show --property MainPID --value ulr-api@3001)" = "$pid" ]; do sleep 0.1; done
  for try in $(seq 100); do
    curl -fs http://127.0.0.1:13001/health/ready > /dev/null && return 0
    sleep 0.2
  done
  echo "the API did not start again before: $BASH_COMMAND" >&2
  exit 1
}
trap crash DEBUG
`;

/** Shell code that waits until every process is ready. */
const ALL_READY = READY.replace("13001", "{13001,13002,13010,13020}");

const readRelease = (machine: SystemdMachine) =>
  succeed(machine, `${READY}; curl -fs http://127.0.0.1:13001/metrics | grep -o 'version="[^"]*"'`);

test("the systemd commands in docs/deploying.md install, administer and upgrade, even while an API keeps crashing", async () => {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "ulr-releases-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  await runCommand(["chmod", "755", directory]);
  const { old, newer } = await makeReleases(directory);
  const lan = opened.use(await openLan());
  const server = opened.use(await startLanPostgres(lan));
  const admin = postgres(server.url, { max: 1, onnotice: () => {} });
  opened.defer(() => admin.end());
  await admin.unsafe("alter schema public owner to ulr_owner");
  const machine = opened.use(await startSystemd(await lan.addHost("machine"), [old, newer]));
  const urlOf = (role: string) => server.url.replace(/\/\/[^@]*@/, `//${role}@`);
  await succeed(
    machine,
    `install -d /etc/ulr
    sed -e 's|^DATABASE_URL=.*|DATABASE_URL=${urlOf("ulr_app")}|' -e 's|^SHUTDOWN_DELAY_SECONDS=.*|SHUTDOWN_DELAY_SECONDS=0|' \
      /opt/ulr-1.0.0/deploy/systemd/ulr.env.example > /etc/ulr/ulr.env
    echo CATALOG_SOURCE=bundled >> /etc/ulr/ulr.env
    echo DATABASE_URL=${urlOf("ulr_owner")} > /etc/ulr/migrate.env
    chmod 600 /etc/ulr/*.env
    mkdir -p /etc/systemd/system/ulr-api@.service.d
    printf '[Service]\\nRestartSec=100ms\\n' > /etc/systemd/system/ulr-api@.service.d/test.conf`,
  );

  expect(await machine.paste(await readCommands("systemd"))).toMatchObject({ exitCode: 0 });
  expect(await readRelease(machine)).toBe('version="1.0.0"\n');
  const said = await machine.paste(await readCommands("Commands of the administrator"), "seven quiet lamps");
  expect(said.exitCode).toBe(0);
  expect(said.stdout).toContain("ann@example.com");
  expect(said.stdout).not.toContain("pending");
  const wrong = await machine.run("ulr-admin user show --user nobody");
  expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining("nobody")]);
  // An administrator's command writes files as the units' user.
  await succeed(machine, "ulr-admin artifacts adopt");
  expect(await succeed(machine, "find /var/lib/ulr/ -printf '%u\\n' | sort -u")).toBe("ulr\n");

  const upgrade = await readCommands("Upgrade with systemd");
  // The migration fails, and no later step of the upgrade runs.
  await succeed(machine, "mv /etc/ulr/migrate.env /etc/ulr/migrate.env.away");
  const failed = await machine.paste(upgrade);
  expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining("ulr-migrate@1.1.0")]);
  expect(await succeed(machine, "readlink /opt/ulr")).toBe("ulr-1.0.0\n");
  expect(await readRelease(machine)).toBe('version="1.0.0"\n');
  await succeed(machine, "mv /etc/ulr/migrate.env.away /etc/ulr/migrate.env");

  expect(await machine.paste(`${KILL_BEFORE_EACH}${upgrade}`)).toMatchObject({ exitCode: 0 });
  expect(await readRelease(machine)).toBe('version="1.1.0"\n');
  expect(await succeed(machine, "systemctl --failed --no-legend")).toBe("");

  // Stopping succeeds although a client has sent only half a request.
  await succeed(
    machine,
    `${ALL_READY}
    exec 3<>/dev/tcp/127.0.0.1/3001; printf 'POST /api/v1/auth/login HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 9\\r\\n\\r\\n' >&3
    systemctl stop ulr-api@3001 ulr-jobs ulr-catalog-sync`,
  );
  const units = ["ulr-api@3001", "ulr-jobs", "ulr-catalog-sync"];
  const ends = await succeed(
    machine,
    `for unit in ${units.join(" ")}; do echo $unit $(systemctl show --property Result,ExecMainStatus $unit); done`,
  );
  expect(ends).toBe(units.map((unit) => `${unit} Result=success ExecMainStatus=0\n`).join(""));
});
