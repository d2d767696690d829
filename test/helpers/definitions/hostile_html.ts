/** Names, descriptions and documents that try to run a script or load a resource in a page. */

/** The host in hostile texts. A test must never send a request to this host. */
const HOSTILE_HOST = "attacker.invalid";

export const HOSTILE_TEXTS: readonly string[] = [
  `<script>alert(1)</script>`,
  `"><img src="https://${HOSTILE_HOST}/a.png" onerror="alert(1)">`,
  `'"--></title></textarea></style></script><svg onload=alert(1)>`,
  `<iframe src="javascript:alert(1)"></iframe>`,
  `<base href="https://${HOSTILE_HOST}/"><link rel="stylesheet" href="https://${HOSTILE_HOST}/a.css">`,
  `<meta http-equiv="refresh" content="0;url=https://${HOSTILE_HOST}/">`,
  `&lt;script&gt;alert(1)&lt;/script&gt; &#60;b&#62;`,
];

/** Markdown that runs a script or loads a resource unless it is rendered safely. */
export const HOSTILE_MARKDOWN = [
  ...HOSTILE_TEXTS,
  `![pixel](https://${HOSTILE_HOST}/pixel.png "title")`,
  `[![badge](https://${HOSTILE_HOST}/badge.svg)](https://${HOSTILE_HOST}/)`,
  `![](//${HOSTILE_HOST}/x.png) ![local](/auth/logout) ![d](data:image/svg+xml;base64,PHN2Zz4=)`,
  `[js](javascript:alert(1)) [js](JaVaScRiPt:alert(1)) [js](java&#10;script:alert(1)) [d](data:text/html,x) [v](vbscript:x)`,
  `[q](https://${HOSTILE_HOST}/"onmouseover="alert(1)) <javascript:alert(1)> [r]`,
  `[r]: javascript:alert(1) "x"`,
  `[s]: https://${HOSTILE_HOST}/s "\\"onclick=alert(1)"`,
  `[s] <https://${HOSTILE_HOST}/auto>`,
  '```"onclick="alert(1)\n</code></pre><script>alert(1)</script>\n```',
  `| <b> | [a](javascript:alert(1)) |\n|---|---|\n| <img src=x onerror=alert(1)> | x |`,
].join("\n\n");
