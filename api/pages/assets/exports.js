/** Comfort on the exports pages: local times, live rows, checked downloads. Everything works without it. */
import { checkDownload } from "./download.js";
import { focusTarget, watchJobs } from "./job_rows.js";
import { showLocalTimes } from "./local_time.js";
import { loadProjects } from "./project_downloads.js";
import { openStartForm } from "./start_form.js";

showLocalTimes(document);
openStartForm();
loadProjects();
watchJobs();
focusTarget();

document.addEventListener("click", checkDownload);

document.addEventListener("submit", (event) => {
  const question = event.target instanceof HTMLFormElement ? event.target.dataset["confirm"] : undefined;
  if (question !== undefined && !confirm(question)) event.preventDefault();
});

/** The back button can restore this page after the sign-out. */
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
