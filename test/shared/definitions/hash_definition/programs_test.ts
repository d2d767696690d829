/** Python computes the digests described in docs/languages.md with its own YAML parser. */
import { expect, test } from "bun:test";
import { ask, definitionOf, write } from "../../../helpers/definitions/definitions.ts";
import { parsed, readDemoDefinitions } from "../../../helpers/definitions/demo_definitions.ts";
import { listScalarDocuments } from "../../../helpers/definitions/digest_samples.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

/** The program parses with PyYAML. Plain scalars follow YAML 1.2, and numbers are printed as in JavaScript. */
const PROGRAM = String.raw`
import hashlib, json, re, sys, yaml
from decimal import Decimal

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[-+][0-9]+)?")

def number_text(text):
    value = float(text)
    if value == 0:
        return "0"
    if 1e-6 <= abs(value) < 1e21:
        digits = format(Decimal(repr(value)), "f")
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    return re.sub(r"\.0(?=e)|(?<=e[-+])0+", "", repr(value))

def scalar(node):
    text = node.value
    if node.style is None:
        if text in ("", "~", "null", "Null", "NULL"):
            return "null"
        if text in ("true", "false") or NUMBER.fullmatch(text) and number_text(text) == text:
            return text
    return json.dumps(text, ensure_ascii=False)

def write(node):
    if isinstance(node, yaml.SequenceNode):
        return "[" + ",".join(map(write, node.value)) + "]"
    if isinstance(node, yaml.MappingNode):
        entries = sorted(node.value, key=lambda entry: entry[0].value.encode("utf-16-be"))
        return "{" + ",".join(json.dumps(k.value, ensure_ascii=False) + ":" + write(v) for k, v in entries) + "}"
    return scalar(node)

def sha256(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

for line in sys.stdin:
    data = json.loads(line)
    markdown = data["runtimeMd"]
    prompt = None if markdown is None else sha256(markdown)
    print(json.dumps([sha256(write(yaml.compose(data["yaml"], yaml.BaseLoader))), prompt]))
`;

test("a Python program with its own YAML parser computes the API's digests for definitions of all types", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const definitions = [];
  for (const { type, yaml } of [...readDemoDefinitions(), ...listScalarDocuments()]) {
    const { name, version } = parsed(yaml, type);
    await write(api, `/${type}/${name}`, person, { body: { yaml } });
    definitions.push(await definitionOf(await ask(api, `/${type}/${name}@${version}`, person)));
  }
  const child = Bun.spawn(["python3", "-c", PROGRAM], {
    env: { PATH: process.env["PATH"] ?? "", PYTHONUTF8: "1" },
    stdin: Buffer.from(definitions.map((definition) => `${JSON.stringify(definition)}\n`).join("")),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect([await child.exited, err]).toEqual([0, ""]);
  const computed = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const answered = definitions.map(({ hash, promptHash }) => [hash, promptHash]);
  for (const [at, { yaml }] of definitions.entries())
    expect([yaml, computed[at]]).toEqual([yaml, answered[at]]);
});
