/** The rules of the safety scan, which searches for evidence of misuse. */
import { scalarFlag, scalarNumber, scalarText } from "../../shared/yaml/scalars.ts";

export type SignalSeverity = "medium" | "high";

export interface SafetyRule {
  id: string;
  severity: SignalSeverity;
  title: string;
}

/** A rule that applies to any text of the document. */
export interface TextRule extends SafetyRule {
  /** The patterns, each with the `g` flag. */
  patterns: readonly RegExp[];
  /** True if a match is evidence even in a text that forbids the action. */
  findsWarnings?: true;
  /** True if the rule reads the raw text. Other rules read the folded text. */
  readsAsWritten?: true;
}

/**
 * A rule about two matches in one piece of a text, with anything in between. Padding does not evade the rule, and each piece is
 * read only a few times.
 */
export interface SequenceRule extends SafetyRule {
  /** Splits a text into pieces. */
  pieces: (text: string) => string[];
  first: RegExp;
  /** The pattern that must match after `first`. */
  second: RegExp;
}

/** A rule that applies to any map of the document. */
interface BlockRule extends SafetyRule {
  /** Returns the offending key, or null. */
  find: (block: Readonly<Record<string, unknown>>) => string | null;
}

/** Paths whose texts describe problems or forbidden actions and are not instructions. `*` matches any list item. */
export const WARNING_PATHS: readonly (readonly string[])[] = [
  ["agent", "mission", "explicit_prohibitions"],
  ["agent", "knowledge_base", "failure_code_examples"],
  ["agent", "knowledge_base", "sections", "*", "red_flags"],
  ["agent", "knowledge_base", "sections", "*", "detection_patterns"],
  ["agent", "knowledge_base", "sections", "*", "common_mistakes"],
  // The condition's command is not listed, because it is executed.
  ["agent", "auto_fail", "conditions", "*", "name"],
  ["agent", "auto_fail", "conditions", "*", "description"],
  ["agent", "auto_fail", "conditions", "*", "remediation"],
  ["agent", "auto_fail", "conditions", "*", "detection", "patterns"],
];

// The repetition of groups is bounded in these fragments, so no text makes a pattern slow.
const FETCH = "(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)";
const INTERPRETER = String.raw`(?:sudo\s+(?:-\w+\s+){0,5})?(?:/\S{1,20}/)?(?:(?:ba|z|da|k|fi)?sh|iex|Invoke-Expression|(?:python\d?|perl|ruby|node|php)(?!\s+-[a-z]))\b`;
/** Matches what may precede a command: wrapper programs such as sudo, and variable assignments. */
const BEFORE_COMMAND = String.raw`(?:(?:sudo|env|exec|nohup)\s+(?:-\w+\s+){0,5}){0,3}(?:[a-z_]\w{0,60}=(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|[^\s|;&"']{0,200})\s+){0,5}`;
/** Matches a command or phrase that reads a file, up to the file name. */
const READ = [
  String.raw`\b(?:cat|less|more|head|tail|cp|mv|base64|xxd|strings|od|type|Get-Content)\s+(?:-\S{1,20}\s+){0,4}["']?`,
  String.raw`\b(?:read|open|print|show|output|return|send|post|upload|copy|collect|include)\s+(?:(?:the|all|every|any|your|their|private|secret|files?|from|(?:contents?|values?|lines?|keys?)\s+(?:in|of|from))\s+){0,6}["'\x60]?`,
];
const PRIVATE_PATH = String.raw`(?:~|\$\{?HOME\}?|/root|/home/[\w.-]{1,40})/\.(?:ssh|aws|azure|gnupg|kube|docker|netrc|npmrc|pypirc|config/gcloud|git-credentials)\b(?!/(?:known_hosts\b|[\w.-]{1,60}\.pub\b))`;
const KEY_FILE = String.raw`[\w./~-]{0,80}(?:\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|\.(?:p12|pfx|key)\b|\b(?!\w{0,40}(?:cert|chain|public|bundle|\bca))[\w-]{1,40}\.pem\b)`;
const DOT_ENV = String.raw`(?:[\w/~-][\w./~-]{0,80}/)?\.env(?!\.(?:example|sample|template|dist)\b)(?:\.\w{1,20})?(?![\w-])`;
const SECRET_WORD = String.raw`[\w.-]*(?:secret|token|passw|api_?key|credential|private_?key)`;
const INSTRUCTIONS = "(?:instructions?|prompts?|directives?|guidelines?|rules)";
/** Matches the object of a sentence about hiding: this, the output, these findings. */
const HIDDEN = String.raw`(?:(?:this|it|that|these|those|them)(?:\s+\w+)?|the\s+\w+)`;
const PERSON = String.raw`(?:the\s+)?(?:user|operator|human|reviewer|developer|maintainer|person|anyone|anybody)s?\b`;
const NOT = String.raw`\b(?:do\s+not|don['’]t|never|must\s+not|without)\s+(?:ever\s+)?`;

function anyCase(...parts: string[]): RegExp {
  return new RegExp(parts.join(""), "gi");
}

const ENVIRONMENT_DUMP: SafetyRule = {
  id: "environment-dump",
  severity: "high",
  title: "Prints or sends the whole environment",
};

export const REMOTE_SCRIPT: SafetyRule = {
  id: "remote-script",
  severity: "high",
  title: "Runs a script from the network without review",
};

const SECRET_READ: SafetyRule = {
  id: "secret-read",
  severity: "high",
  title: "Reads credentials or key material",
};

export const SEQUENCE_RULES: readonly SequenceRule[] = [
  {
    ...REMOTE_SCRIPT,
    pieces: commandLines,
    first: anyCase(String.raw`\b${FETCH}\b|\bbase64\s+(?:-d|-D|--decode)\b`),
    second: anyCase(String.raw`\|\s*${BEFORE_COMMAND}${INTERPRETER}`),
  },
  {
    ...SECRET_READ,
    pieces: commands,
    first: anyCase(String.raw`\b(?:cat|tar|zip|7z|scp|rsync|curl|wget)\s`),
    second: anyCase(String.raw`(?<=[\s"'=@<:])(?:${PRIVATE_PATH}|${KEY_FILE}|${DOT_ENV})`),
  },
  {
    id: "secret-in-url",
    severity: "high",
    title: "Puts a secret into a URL",
    pieces: (text) => text.match(/\b(?:https?|wss?|ftp):\/\/(?:[^\s"'<>{]|\{\{\s*|\{)*/gi) ?? [],
    first: /:\/\//g,
    second: anyCase(String.raw`(?:\{\{\s*|\$\{?\{?|%)${SECRET_WORD}`),
  },
];

/** Splits a text into shell command lines. Joins continued lines, and lines that begin with a pipe or follow one. */
function commandLines(text: string): string[] {
  return text.replace(/\\\r?\n|(?<!\s)\s+(?=\|)|(?<=\|)[ \t]*\r?\n/g, " ").split("\n");
}

/** Splits a text into single commands and sentences. */
function commands(text: string): string[] {
  return commandLines(text).flatMap((line) => line.split(/[|;]|&&|(?<=\w[.!?:])\s+(?=[A-Z])/));
}

/** Signals are stored in the order of these rules. Another order requires a new version of the scan. */
export const TEXT_RULES: readonly TextRule[] = [
  {
    id: "invisible-characters",
    severity: "high",
    title: "Contains invisible characters, or characters that reorder text",
    patterns: [
      // Bidirectional controls; zero-width characters; fillers; tag characters outside flags.
      /[\u202A-\u202E\u2066-\u2069\u200B\u2060-\u2064\uFEFF\u180E\u115F\u1160\u3164\uFFA0]/gu,
      /(?<![\u{1F3F4}\u{E0020}-\u{E007F}])[\u{E0000}-\u{E007F}]/gu,
      /[\u{E0100}-\u{E01EF}]{2}/gu,
      // Joiners are legitimate in emoji and in Indic and Arabic script, but not between these letters.
      /[A-Za-z0-9][\u200C\u200D][A-Za-z0-9]/gu,
    ],
    findsWarnings: true,
    readsAsWritten: true,
  },
  {
    id: "shell-include",
    severity: "high",
    title: "Runs a shell command when the rendered file is loaded",
    patterns: [/!`[^`\n]{1,500}`/g],
    findsWarnings: true,
  },
  {
    id: "file-include",
    severity: "high",
    title: "Includes a file in the prompt when the rendered file is loaded",
    patterns: [
      /(?:^|[\s(])@(?:~\/|\.{1,2}\/|\/(?:etc|home|opt|proc|root|tmp|usr|var|Users)\/)[\w.~/-]{1,200}/g,
      /(?:^|[\s(])@[\w-]{1,60}\/[\w./-]{1,200}\.(?:md|txt|json|ya?ml|env|pem|key|toml|ini|cfg|csv|log)\b/g,
    ],
    findsWarnings: true,
  },
  {
    ...REMOTE_SCRIPT,
    patterns: [
      anyCase(
        String.raw`(?:${INTERPRETER}|\bsource|(?:^|\s)\.)\s+(?:-\w+\s+){0,3}["']?(?:<\(|\$\(|\x60)\s*${FETCH}\b`,
      ),
      anyCase(String.raw`\b(?:eval|iex|Invoke-Expression)\b[\s("'$&]{0,20}${FETCH}\b`),
    ],
  },
  {
    ...SECRET_READ,
    patterns: [
      ...READ.map((read) => anyCase(`${read}(?:${PRIVATE_PATH}|${KEY_FILE}|${DOT_ENV})`)),
      /\bgpg2?\b[^\n]{0,60}--export-secret|\bsecurity\s+(?:find|dump)-(?:generic|internet)?-?(?:password|keychain)/gi,
    ],
  },
  {
    ...ENVIRONMENT_DUMP,
    patterns: [
      /\bprintenv\b(?!\s+\w)|\bexport -p\b|(?:^|[|;&(`\n]\s{0,20})env\s{0,5}[|>]|[|;&(`]\s{0,5}env\s{0,5}[;&)`\n]/g,
      /\/proc\/(?:self|\d{1,9}|\$\$)\/environ\b|JSON\.stringify\(\s{0,5}process\.env\s{0,5}[,)]|\bdict\(os\.environ\)|\b(?:gci|ls|dir|Get-ChildItem)\s+env:/gi,
      /\b(?:dump|exfiltrate|leak)\w{0,3}\s+(?:\w+\s+){0,3}environment\b/gi,
      /\b(?:print|output|show|send|report|return|include|post)\s+(?:the\s+)?(?:values?|contents?)\s+of\s+(?:all\s+|every\s+|the\s+){0,2}environment\b/gi,
    ],
  },
  {
    id: "instruction-override",
    severity: "high",
    title: "Tells the agent to ignore earlier instructions",
    patterns: [
      anyCase(
        String.raw`\b(?:ignore|disregard|forget|override|bypass)\b\s+(?:\w+\s+){0,3}(?:previous|prior|earlier|above|preceding|foregoing|system|your)\s+(?:\w+\s+){0,3}${INSTRUCTIONS}\b`,
      ),
      anyCase(
        String.raw`\b(?:ignore|disregard|forget|override|bypass)\b\s+(?:\w+\s+){0,3}${INSTRUCTIONS}\s+(?:\w+\s+)?(?:above|before|earlier|previously)(?=\s*(?:$|[.,;:!?)\n]|and\b))`,
      ),
      /\b(?:ignore|disregard|forget)\s+(?:everything|anything|all)\s+(?:\w+\s+){0,2}(?:above|before|earlier|previously|you\s+(?:were|have\s+been)\s+told)\b/gi,
    ],
  },
  {
    id: "hidden-from-user",
    severity: "medium",
    title: "Tells the agent to hide something from the user",
    patterns: [
      anyCase(
        NOT,
        String.raw`(?:tell|telling|inform|informing|notify|notifying|alert|alerting)\s+${PERSON}(?=\s*(?:$|[.,;!)]|(?:about|of|anything|this|when\s+you|that\s+you)\b))`,
      ),
      anyCase(
        NOT,
        String.raw`(?:show|reveal|display|mention|report)\w{0,3}\s+${HIDDEN}\s+(?:to\s+${PERSON}|in\s+(?:the|your)\s+(?:answer|report|output|response))`,
      ),
      anyCase(String.raw`\b(?:hide|conceal|keep)\s+${HIDDEN}\s+(?:hidden\s+|secret\s+)?from\s+${PERSON}`),
      /\bsilently\s+(?:send|upload|post|copy|exfiltrate|transmit|forward)\b/gi,
    ],
  },
];

export const BLOCK_RULES: readonly BlockRule[] = [
  {
    ...ENVIRONMENT_DUMP,
    // Matches only a whole command, because the word alone is harmless.
    find: ({ command }) =>
      typeof command === "string" && /^\s*(?:env|set)\s*$/.test(command) ? "command" : null,
  },
  {
    id: "self-approval",
    severity: "medium",
    title: "Lets the person who starts the pipeline approve it alone",
    find: ({ allow_self_approval: isAllowed, min_approvals: count }) =>
      scalarFlag(isAllowed) === true && (scalarNumber(count) ?? 1) <= 1 ? "allow_self_approval" : null,
  },
  {
    id: "approval-by-timeout",
    severity: "high",
    title: "Treats a timeout as approval",
    find: ({ timeout_behavior: behavior }) =>
      scalarText(behavior)?.trim() === "approve" ? "timeout_behavior" : null,
  },
];
