/** The exports pages of the dashboard. */
import { Elysia, t } from "elysia";
import { access } from "../../http/access.ts";
import { PAGE_ROUTE, type Pages } from "../page.ts";
import { showExports, submitStart } from "./exports_page.ts";
import { cancelJob, showJobs } from "./job_list.ts";
import { downloadFiltered, showProject } from "./project_page.ts";

const JobParams = t.Object({ job: t.String() });
const ProjectParams = t.Object({ project: t.String() });

export function exportPageRoutes(pages: Pages) {
  return new Elysia({ prefix: "/dashboard/exports" })
    .use(access)
    .get("/", ({ request }) => pages.showSignedIn(request, showExports), PAGE_ROUTE)
    .post("/", ({ request }) => pages.showSignedIn(request, submitStart), PAGE_ROUTE)
    .get("/jobs", ({ request }) => pages.showSignedIn(request, showJobs), PAGE_ROUTE)
    .post(
      "/jobs/:job/cancel",
      ({ request, params }) => pages.showSignedIn(request, (page) => cancelJob(page, params.job)),
      { ...PAGE_ROUTE, params: JobParams },
    )
    .get(
      "/projects/:project",
      ({ request, params }) => pages.showSignedIn(request, (page) => showProject(page, params.project)),
      { ...PAGE_ROUTE, params: ProjectParams },
    )
    .get(
      "/projects/:project/file",
      ({ request, params }) => pages.showSignedIn(request, (page) => downloadFiltered(page, params.project)),
      { ...PAGE_ROUTE, params: ProjectParams },
    );
}
