import { expect, test } from "bun:test";
import { emailProblem, websiteProblem } from "../../../api/accounts/profile_fields.ts";

test.each([
  "ann@b.example",
  "Ann.O'Hara+lists@Mail.B.Example",
  "ann@localhost",
  "a..b.@b.example",
  "jürgen@b.example",
  "用户@b.example",
  "ann@xn--mller-kva.example",
])("%s is an email address", (email) => expect(emailProblem(email)).toBeNull());

test.each([
  "<victim@b.example",
  "victim@b.example>",
  "vic\u0007tim@b.example",
  "vic\u200Btim@b.example",
  "victim@b.example\u007F",
  '"victim"@b.example',
  "vic\\tim@b.example",
  "(x)victim@b.example",
  "victim@b.example(x)",
  "victim@b.example,",
  "victim@b.example;",
  "ｖictim@b.example",
  "victim@b.example.",
  "victim@b..example",
  "victim@b.exa\u00ADmple",
  "victim@[127.0.0.1]",
  "victim@b.example@c.example",
  "victim",
])("%j is not an email address", (email) => expect(emailProblem(email)).toBe("must be an email address"));

test.each([
  ["victim@ｂ.example", "b.example"],
  ["victim@b。example", "b.example"],
  ["victim@\u212A.example", "k.example"],
  ["victim@b%2Eexample", "b.example"],
  ["ann@müller.example", "xn--mller-kva.example"],
])("%s is refused, with a hint to use the domain %s", (email, domain) =>
  expect(emailProblem(email)).toBe(
    `must have its domain in ASCII, as in ${email.slice(0, email.indexOf("@"))}@${domain}`,
  ),
);

test("an email address or website that is too long is refused before it is normalized", () => {
  // Without the length check, normalizing these combining marks would take minutes.
  const marks = "\u0315".repeat(50_000) + "\u0327".repeat(50_000);
  for (const email of [`a${marks}@x.io`, `a@x${marks}.io`])
    expect(emailProblem(email)).toBe("must have at most 320 characters");
  expect(websiteProblem(`https://x${marks}.io`)).toBe("must have at most 2000 characters");
});
