/** The demo's users, organizations and projects. */
import type { DemoContent, DemoOrg } from "../../api/admin/demo/demo_bundle.ts";
import type { PlatformRole } from "../../shared/vocabulary.ts";

type DemoUser = DemoContent["users"][number];

/** Prefixes of the ids, which are the same in every demo so that links and examples keep working. */
const USER_IDS = "5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c1";
const PROJECT_IDS = "b4d1c7a2-6e08-4f39-8c55-1d7e90a3f26";

function user(digit: number, role: string, name: string, platformRole: PlatformRole = "user"): DemoUser {
  return {
    id: `${USER_IDS}${digit}`,
    username: `demo-${role}`,
    email: `${role}@demo.example`,
    name,
    platformRole,
  };
}

/** One user per role. The outsider belongs to no organization. The publisher appears in the OpenAPI examples. */
export const DEMO_USERS: readonly DemoUser[] = [
  user(0, "owner", "Olivia Ferreira"),
  user(2, "admin", "Adam Nakamura"),
  user(1, "publisher", "Petra Lindqvist"),
  user(3, "viewer", "Victor Okafor"),
  user(4, "outsider", "Oskar Brandt"),
  user(5, "platform-admin", "Paula Reyes", "admin"),
];

export interface DemoProject {
  id: string;
  orgSlug: string;
  name: string;
  issues: number;
}

function project(digit: number, orgSlug: string, name: string, issues: number): DemoProject {
  return { id: `${PROJECT_IDS}${digit}`, orgSlug, name, issues };
}

/**
 * The demo's projects, with 20,000 issues in total. The largest project is first, because it takes longest and two
 * projects load at a time.
 */
export const DEMO_PROJECTS: readonly DemoProject[] = [
  project(0, "demo", "Checkout Service", 6000),
  project(1, "demo", "Mobile App", 4500),
  project(2, "harbor-works", "Port Logistics API", 3000),
  project(3, "demo", "Search Platform", 2500),
  project(4, "harbor-works", "Customs Data Lake", 2000),
  project(5, "demo", "Design System", 1000),
  project(6, "paper-lantern", "Recipe Finder", 1000),
];

function projectsOf(slug: string): string[] {
  return DEMO_PROJECTS.filter(({ orgSlug }) => orgSlug === slug).map(({ id }) => id);
}

export const DEMO_ORGS: readonly [DemoOrg, ...DemoOrg[]] = [
  {
    slug: "demo",
    name: "Demo Studio",
    subscriptionTier: "pro",
    members: {
      "demo-owner": "owner",
      "demo-admin": "admin",
      "demo-publisher": "publisher",
      "demo-viewer": "viewer",
    },
    projects: projectsOf("demo"),
  },
  {
    slug: "harbor-works",
    name: "Harbor Works",
    subscriptionTier: "enterprise",
    members: { "demo-admin": "owner", "demo-publisher": "publisher" },
    projects: projectsOf("harbor-works"),
  },
  {
    slug: "paper-lantern",
    name: "Paper Lantern",
    subscriptionTier: "free",
    members: { "demo-owner": "owner", "demo-viewer": "publisher" },
    projects: projectsOf("paper-lantern"),
  },
];
