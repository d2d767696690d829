/** Parses untrusted YAML: YAML 1.2 core, one document, within limits. */
import {
  type Alias,
  Composer,
  CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from "yaml";
import { isStorable } from "../characters.ts";
import { MAX_PARSER_STACK, openTokenMeter, TOO_DEEP } from "./limits.ts";
import {
  type DefinitionProblem,
  MAX_PROBLEMS,
  type PathStep,
  problemAt,
  syntaxProblem,
  templateAdvice,
  WHOLE_DOCUMENT,
} from "./problems.ts";
import { KEY_IS_NO_SCALAR, keyText, toPlainValue, UNSTORABLE } from "./values.ts";

/** A parsed document: its plain value, and the positions of its parts. */
export interface YamlDocument {
  /** Maps are objects with keys in document order (JavaScript puts integer keys first); lists are arrays. */
  value: unknown;
  /** The parser's own tree, with comments and offsets. */
  tree: Document.Parsed;
  /** The node that each alias stands for. */
  aliases: ReadonlyMap<Alias, ParsedNode>;
  /** Returns line and column, from 1, of the value at the path or of its key, or of the nearest ancestor. */
  locate: (path: readonly PathStep[], part?: "value" | "key") => { line: number; column: number };
  /** Returns the scalar at the path; null for other nodes. */
  nodeAt: (path: readonly PathStep[]) => Scalar.Parsed | null;
}

export type YamlResult = { ok: true; document: YamlDocument } | { ok: false; problems: DefinitionProblem[] };

/**
 * The explicit schema keeps a directive from choosing another one. Duplicate keys are found in values.ts, because the
 * parser compares every key with every other.
 */
const OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  resolveKnownTags: false,
  uniqueKeys: false,
  logLevel: "error",
  keepSourceTokens: true,
} as const;

/**
 * Parses one document, or returns every problem found. A byte order mark and CRLF line ends are accepted. Rejects syntax
 * errors, several documents, duplicate keys, custom tags, keys that are lists or maps, NUL and lone surrogates (which
 * PostgreSQL cannot store), and anything beyond YAML_LIMITS. Never throws.
 */
export function readYaml(text: string): YamlResult {
  const lines = countLines(text);
  if (!isStorable(text)) {
    const offset = text.search(/\0|\p{Surrogate}/u);
    return invalid([problemAt(lines, offset, { path: WHOLE_DOCUMENT, message: UNSTORABLE })]);
  }
  try {
    return readStorable(text, lines);
  } catch (error) {
    // A safety net: the limits should keep the parser's recursion far from a stack overflow.
    if (error instanceof RangeError) return invalid([{ path: WHOLE_DOCUMENT, message: TOO_DEEP }]);
    throw error;
  }
}

function readStorable(text: string, lines: LineCounter): YamlResult {
  const tokens = readTokens(text);
  if (!Array.isArray(tokens)) {
    return invalid([problemAt(lines, tokens.offset, { path: WHOLE_DOCUMENT, message: tokens.message })]);
  }
  const [tree] = [...new Composer(OPTIONS).compose(tokens, true, text.length)] as Document.Parsed[];
  if (!tree) throw new Error("The composer returned no document");
  const problems = syntaxProblems(tree, text, lines);
  if (problems.length > 0) return invalid(problems);
  const plain = toPlainValue(tree);
  if (plain.problems.length > 0)
    return invalid(
      plain.problems.map(({ offset, path, message }) => {
        const advice = message === KEY_IS_NO_SCALAR ? templateAdvice(text, offset) : "";
        return problemAt(lines, offset, { path, message: `${message}${advice}` });
      }),
    );
  const { value, aliases } = plain;
  const entriesOn = pathReader(tree, aliases);
  const locate: YamlDocument["locate"] = (path, part = "value") => {
    const nodes = entriesOn(path).map((entry) => entry?.[part] ?? entry?.key ?? entry?.value);
    const { line, col } = lines.linePos(nodes.findLast(isNode)?.range?.[0] ?? 0);
    return { line, column: col };
  };
  const nodeAt: YamlDocument["nodeAt"] = (path) => {
    const node = entriesOn(path).at(-1)?.value;
    return isScalar(node) ? (node as Scalar.Parsed) : null;
  };
  return { ok: true, document: { value, tree, aliases, locate, nodeAt } };
}

/** An exceeded limit and its position. */
interface Excess {
  message: string;
  offset: number;
}

/** Splits the text into lexemes and stops at the first one beyond a limit. */
function readLexemes(text: string): string[] | Excess {
  const exceeds = openTokenMeter();
  const lexemes: string[] = [];
  let offset = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const message = exceeds(lexeme);
    if (message) return { message, offset };
    lexemes.push(lexeme);
    offset += isMark(lexeme) ? 0 : lexeme.length;
  }
  return lexemes;
}

/** True for the lexer's markers, which have no width in the text. */
function isMark(lexeme: string): boolean {
  return lexeme === CST.DOCUMENT || lexeme === CST.FLOW_END || lexeme === CST.SCALAR;
}

/** Parses the text into tokens; stops if it is nested too deep or has a second document. */
function readTokens(text: string): CST.Token[] | Excess {
  const lexemes = readLexemes(text);
  if (!Array.isArray(lexemes)) return lexemes;
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of lexemes) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MAX_PARSER_STACK) return { message: TOO_DEEP, offset: parser.offset };
  }
  tokens.push(...parser.end());
  const [, second] = tokens.filter((token) => token.type === "document");
  if (!second) return tokens;
  return {
    message: 'The text holds several documents. Remove everything from the second "---" on.',
    offset: second.offset,
  };
}

/** In messages about tokens outside the document: after the first, every token that follows is one. */
const STRAY = "token in YAML stream";

/** One problem a line: the parser's further errors there, and those of what it could not place, have the same cause. */
function syntaxProblems(tree: Document.Parsed, text: string, lines: LineCounter): DefinitionProblem[] {
  const tags = tree.warnings.filter((warning) => warning.code === "TAG_RESOLVE_FAILED");
  const stray = tree.errors.findIndex(({ message }) => message.includes(STRAY));
  const errors = stray < 0 ? tree.errors : tree.errors.slice(0, stray + 1);
  const byLine = new Map<number, YAMLError>();
  for (const error of [...errors, ...tags]) {
    const { line } = lines.linePos(error.pos[0]);
    byLine.getOrInsert(line, error);
  }
  const problems = [...byLine.values()]
    .slice(0, MAX_PROBLEMS)
    .map((error) => syntaxProblem(text, lines, error));
  const { explicit, version } = tree.directives?.yaml ?? {};
  if (!explicit || version === "1.2") return problems;
  const message = `YAML ${version} is not supported. Definitions are YAML 1.2: remove the line that begins with %YAML.`;
  return [{ path: WHOLE_DOCUMENT, message, line: 1, column: 1 }, ...problems];
}

/** An entry of a map, an item of a list, or the whole document; these two have no key. */
interface Entry {
  key?: unknown;
  value: unknown;
}

/** Returns a function for what the tree has at each step of a path, with the whole document first. */
function pathReader(
  tree: Document.Parsed,
  aliases: YamlDocument["aliases"],
): (path: readonly PathStep[]) => (Entry | undefined)[] {
  /** The entries of each map by key: the parser's own lookup compares the key with every other. */
  const maps = new Map<YAMLMap, Map<unknown, Entry>>();
  const keyOf = (key: unknown) =>
    keyText(isAlias(key) ? (aliases.get(key) ?? null) : (key as ParsedNode | null));
  const entryAt = (node: unknown, step: PathStep): Entry | undefined => {
    if (!isMap(node)) return isCollection(node) ? { value: node.get(step, true) } : undefined;
    const toEntries = ({ items }: YAMLMap) => new Map(items.map((pair) => [keyOf(pair.key), pair]));
    return maps.getOrInsertComputed(node, toEntries).get(step);
  };
  return (path) => {
    const entries: (Entry | undefined)[] = [{ value: tree.contents }];
    for (const step of path) entries.push(entryAt(entries.at(-1)?.value, step));
    return entries;
  };
}

function countLines(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
  return lines;
}

function invalid(problems: DefinitionProblem[]): { ok: false; problems: DefinitionProblem[] } {
  return { ok: false, problems };
}
