/** Parses untrusted YAML: a single document in YAML 1.2 core, within limits. */
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

/** A parsed document with its plain value and the positions of its parts. */
export interface YamlDocument {
  /**
   * The document as a plain value. Maps are objects with keys in document order, except that JavaScript puts integer keys
   * first. Lists are arrays.
   */
  value: unknown;
  /** The parser's own tree, with comments and offsets. */
  tree: Document.Parsed;
  /** The target node of each alias. */
  aliases: ReadonlyMap<Alias, ParsedNode>;
  /**
   * Returns the line and column, counted from 1, of the value at the path or of its key. If the path does not exist, returns
   * the position of the nearest ancestor.
   */
  locate: (path: readonly PathStep[], part?: "value" | "key") => { line: number; column: number };
  /** Returns the scalar at the path; null if the node is not a scalar. */
  nodeAt: (path: readonly PathStep[]) => Scalar.Parsed | null;
}

export type YamlResult = { ok: true; document: YamlDocument } | { ok: false; problems: DefinitionProblem[] };

/**
 * The explicit schema prevents a directive from choosing another schema. values.ts finds duplicate keys, because the parser
 * would compare every key with every other key.
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
 * Parses a document, or returns all problems found. Accepts a byte order mark and CRLF line ends. Rejects syntax errors,
 * several documents, duplicate keys, custom tags, and keys that are lists or maps. Also rejects NUL and lone surrogates,
 * which PostgreSQL cannot store, and documents that exceed YAML_LIMITS. Never throws.
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
    // A safety net. The limits should prevent a stack overflow in the parser's recursion.
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

/** Splits the text into lexemes. Stops at the first lexeme that exceeds a limit. */
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

/** Returns true for the lexer's markers, which have no width in the text. */
function isMark(lexeme: string): boolean {
  return lexeme === CST.DOCUMENT || lexeme === CST.FLOW_END || lexeme === CST.SCALAR;
}

/** Parses the text into tokens. Fails if the text is nested too deeply or contains a second document. */
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

/**
 * Part of the parser's messages about tokens outside the document. After the first such token, all following tokens are also
 * outside.
 */
const STRAY = "token in YAML stream";

/**
 * Returns the syntax problems, at most one per line. Further errors on a line have the same cause, and so do errors after the
 * first token outside the document.
 */
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

/** A map entry, a list item or the whole document. List items and the document have no key. */
interface Entry {
  key?: unknown;
  value: unknown;
}

/** Returns a function that returns the entries along a path, starting with the whole document. */
function pathReader(
  tree: Document.Parsed,
  aliases: YamlDocument["aliases"],
): (path: readonly PathStep[]) => (Entry | undefined)[] {
  /** The entries of each map by key. The parser's own lookup would compare the key with all keys of the map. */
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
