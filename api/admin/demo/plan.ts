/** The demo's users, organizations and projects. */
import type { OrgRole, PlatformRole, SubscriptionTier } from "../../../shared/vocabulary.ts";

export interface DemoUser {
  id?: string | undefined;
  username: string;
  email: string;
  name: string;
  platformRole: PlatformRole;
}

export interface DemoOrg {
  slug: string;
  name: string;
  subscriptionTier: SubscriptionTier;
  members: Readonly<Record<string, OrgRole>>;
}

export interface DemoProject {
  orgSlug: string;
  name: string;
  /** Number of issues at scale 1; other rows are proportional. */
  issues: number;
}

/** The user in the examples of the API's documentation. Other demo users have random ids. */
export const DEMO_PUBLISHER_ID = "5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c11";

function user(role: string, name: string, platformRole: PlatformRole = "user"): DemoUser {
  return { username: `demo-${role}`, email: `${role}@demo.example`, name, platformRole };
}

/** One user per role; the outsider belongs to no organization. */
export const DEMO_USERS: readonly DemoUser[] = [
  user("owner", "Olivia Ferreira"),
  user("admin", "Adam Nakamura"),
  { ...user("publisher", "Petra Lindqvist"), id: DEMO_PUBLISHER_ID },
  user("viewer", "Victor Okafor"),
  user("outsider", "Oskar Brandt"),
  user("platform-admin", "Paula Reyes", "admin"),
];

export const DEMO_ORGS: readonly DemoOrg[] = [
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
  },
  {
    slug: "harbor-works",
    name: "Harbor Works",
    subscriptionTier: "enterprise",
    members: { "demo-admin": "owner", "demo-publisher": "publisher" },
  },
  {
    slug: "paper-lantern",
    name: "Paper Lantern",
    subscriptionTier: "free",
    members: { "demo-owner": "owner", "demo-viewer": "publisher" },
  },
];

/** 20,000 issues. The largest project comes first, because it takes longest and two are filled at a time. */
export const DEMO_PROJECTS: readonly DemoProject[] = [
  { orgSlug: "demo", name: "Checkout Service", issues: 6000 },
  { orgSlug: "demo", name: "Mobile App", issues: 4500 },
  { orgSlug: "harbor-works", name: "Port Logistics API", issues: 3000 },
  { orgSlug: "demo", name: "Search Platform", issues: 2500 },
  { orgSlug: "harbor-works", name: "Customs Data Lake", issues: 2000 },
  { orgSlug: "demo", name: "Design System", issues: 1000 },
  { orgSlug: "paper-lantern", name: "Recipe Finder", issues: 1000 },
];
