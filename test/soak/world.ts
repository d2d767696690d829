/** Creates the users and data that exist before the load starts. */

import { type Account, makeAccount } from "../helpers/accounts/accounts.ts";
import { agentNeeding, createAgent, publishAgent } from "../helpers/definitions/definitions.ts";
import { addNoise, makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import type { TestApp } from "../helpers/http/app.ts";
import type { TestDatabase } from "../helpers/postgres/database.ts";
import {
  createFactory,
  type Factory,
  type OrgRow,
  type Person,
  type ProjectRow,
} from "../helpers/postgres/factory.ts";
import { writeTrackerRows } from "./tracker_rows.ts";

const EXPORT_PROJECTS = 4;
const JOB_ORGS = 4;
const JOB_PROJECTS = 3;
const HEAVY_RUNS = 50;
const ISSUES = 1500;
/** The size of an export in MiB. It exceeds the socket buffers, so a paused reader makes the service wait. */
const NOISE_MIB = 16;
const AGENTS = 12;
const RECORDERS = 12;
const ACCOUNTS = 12;
/** The number of abusers. They are in one organization, so they share its limit on exports. */
const ABUSERS = 20;
const ABUSED_NOISE_MIB = 8;

export interface Agent {
  name: string;
  id: string;
}

export interface World {
  /** The client's user, a publisher. Each client gets a different one (`enter` in clients.ts). */
  member: Person;
  members: Person[];
  /** A member of another organization. */
  stranger: Person;
  /** Projects of the member's organization to which the tracker writes throughout the load. */
  projects: ProjectRow[];
  /** A project of the member's organization with a large export of runs. */
  noisy: ProjectRow;
  /** Users who queue exports, each for a different organization. */
  jobOwners: Person[];
  /** Agents published in versions 1.0.0 and 1.1.0 and not changed afterwards. */
  agents: Agent[];
  /** Platform administrators who record executions, with their keys. */
  recorders: { key: string; userId: string }[];
  accounts: Account[];
  /** Members of one organization, which is on the `pro` tier and has a large project. */
  abusers: Abuser[];
  abusedProject: ProjectRow;
}

export interface Abuser {
  person: Person;
  sessionToken: string;
}

/** Creates the users and data. Agents are created over HTTP, everything else with SQL. */
export async function makeWorld(
  db: TestDatabase,
  api: Pick<TestApp, "request">,
  clients: number,
): Promise<World> {
  const make = createFactory(db.sql);
  const member = await make.person({ role: "publisher" });
  const stranger = await make.person();
  const projects = await makeProjects(db, make, member, EXPORT_PROJECTS);
  const [noisy] = await makeProjects(db, make, member, 1);
  if (!noisy) throw new Error("Cannot go on: there is no project");
  await addNoise(db, noisy, NOISE_MIB);
  const heavy = await makeHeavyOrg({ db, make }, HEAVY_RUNS);
  const jobOwners = [heavy.person];
  while (jobOwners.length < JOB_ORGS) {
    const person = await make.person({ role: "publisher" });
    await makeProjects(db, make, person, JOB_PROJECTS);
    jobOwners.push(person);
  }
  return {
    member,
    stranger,
    projects,
    noisy,
    jobOwners,
    members: await makeColleagues(make, member, clients),
    ...(await makeAbusers(db, make)),
    agents: await publishAgents(api, member),
    recorders: await Promise.all(Array.from({ length: RECORDERS }, () => makeRecorder(make))),
    accounts: await Promise.all(Array.from({ length: ACCOUNTS }, () => makeAccount({ make }))),
  };
}

async function makeColleagues(make: Factory, { org }: Person, count: number): Promise<Person[]> {
  const people: Person[] = [];
  while (people.length < count) people.push(await make.person({ role: "publisher", org }));
  return people;
}

async function makeAbusers(
  db: TestDatabase,
  make: Factory,
): Promise<{ abusers: Abuser[]; abusedProject: ProjectRow }> {
  const first = await make.person({ role: "publisher" });
  const people = [first, ...(await makeColleagues(make, first, ABUSERS - 1))];
  const [abusedProject] = await makeProjects(db, make, first, 1);
  if (!abusedProject) throw new Error("Cannot go on: there is no project");
  await addNoise(db, abusedProject, ABUSED_NOISE_MIB);
  const abusers: Abuser[] = [];
  for (const person of people) {
    const { token } = await make.session({ userId: person.user.id });
    abusers.push({ person, sessionToken: token });
  }
  return { abusers, abusedProject };
}

async function makeProjects(
  { sql }: TestDatabase,
  make: Factory,
  { user, org }: { user: { id: string }; org: OrgRow },
  count: number,
): Promise<ProjectRow[]> {
  const projects: ProjectRow[] = [];
  while (projects.length < count) {
    const project = await make.project({ orgId: org.id, ownerId: user.id });
    await writeTrackerRows(sql, project, ISSUES);
    projects.push(project);
  }
  return projects;
}

/** Publishes agents, each of which depends on the previous one. */
async function publishAgents(api: Pick<TestApp, "request">, member: Person): Promise<Agent[]> {
  const agents: Agent[] = [];
  while (agents.length < AGENTS) {
    const name = `steady-agent-${agents.length + 1}`;
    const needs = agents.slice(-1).map((before) => `${before.name}@^1.0.0`);
    const given = { name, visibility: "public" };
    await publishAgent(api, member, { ...given, yaml: agentNeeding(name, needs) });
    const yaml = agentNeeding(name, needs, "1.1.0");
    const { id } = await publishAgent(api, member, { ...given, version: "1.1.0", yaml });
    agents.push({ name, id });
  }
  await createAgent(api, member, { name: "steady-draft" });
  return agents;
}

async function makeRecorder(make: Factory): Promise<{ key: string; userId: string }> {
  const user = await make.user({ platformRole: "admin" });
  const { key } = await make.key({ userId: user.id });
  return { key, userId: user.id };
}
