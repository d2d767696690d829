/** Whose agreement a stage waits for. */
import { Fields } from "../field_reader.ts";
import { writeLeftoverBullets } from "../generic_section.ts";
import { given, type Inline, listed, md, type Prose } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { plural } from "../phrases.ts";

const WHEN_TIME_IS_OVER: Readonly<Record<string, Inline>> = {
  reject: md`take it as refused`,
  approve: md`take it as given`,
  extend: md`wait longer`,
  pause: md`pause the run`,
};

export function writeApproval(w: MarkdownWriter, approval: Fields | Prose): void {
  if (!(approval instanceof Fields)) {
    w.bullet(md`Approval is needed: ${approval}`);
    return;
  }
  if (approval.flag("required") === false) {
    w.bullet(md`No approval is needed`);
    approval.discard();
    return;
  }
  const isAlways = approval.flag("required") === true;
  const needed = isAlways ? md`` : (given(approval.code("required"), (text) => md` if ${text}`) ?? md``);
  w.bullet(md`Approval is needed before this stage starts${needed}`, () => {
    // As code: an at sign in running text makes some agents read a file of that name.
    w.bullet(given(listed(approval.codes("approvers"), "or"), (names) => md`From ${names}`));
    w.bullet(given(approval.number("min_approvals"), (count) => md`At least ${plural(count, "approval")}`));
    w.bullet(given(approval.number("timeout_hours"), (hours) => md`Within ${plural(hours, "hour")}`));
    const action = approval.known("timeout_behavior", WHEN_TIME_IS_OVER) ?? approval.code("timeout_behavior");
    w.bullet(given(action, (text) => md`When that time is over, ${text}`));
    writeRules(w, approval);
    writeLeftoverBullets(w, approval);
  });
}

function writeRules(w: MarkdownWriter, approval: Fields): void {
  const self = approval.flag("allow_self_approval");
  if (self !== null) {
    w.bullet(
      self
        ? md`People may approve what they started themselves`
        : md`Nobody approves what they started themselves`,
    );
  }
  if (approval.flag("auto_reject_on_change") === true)
    w.bullet(md`A change made meanwhile counts as a refusal`);
  w.bullet(given(listed(approval.codes("skip_for"), "or"), (names) => md`Not needed for ${names}`));
}
