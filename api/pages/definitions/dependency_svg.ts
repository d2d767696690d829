/** Dependencies as an SVG: boxes that are links, and curves between them. */
import { definitionPath } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import type { GraphBox, GraphLayout } from "./dependency_graph.ts";

/** In pixels. */
const BOX = { width: 230, height: 42, columnGap: 36, rowGap: 12, margin: 8 } as const;
const MAX_TITLE = 26;
const MAX_NOTE = 38;

/** Draws the graph. The list below it says the same, so assistive technology skips the picture's lines but not its links. */
export function drawGraph({ boxes, columns, rows }: GraphLayout): Html {
  const width = columns * (BOX.width + BOX.columnGap) - BOX.columnGap + 2 * BOX.margin;
  const height = rows * (BOX.height + BOX.rowGap) - BOX.rowGap + 2 * BOX.margin;
  const edges = boxes.flatMap((box) => {
    const parent = box.parent === null ? undefined : boxes[box.parent];
    return parent ? [drawEdge(parent, box)] : [];
  });
  return html`<svg class="graph" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="group" aria-label="Dependency graph">
<g class="edges" aria-hidden="true">${edges}</g>
${boxes.map(drawBox)}
</svg>`;
}

function leftOf({ column }: GraphBox): number {
  return BOX.margin + column * (BOX.width + BOX.columnGap);
}

function topOf({ row }: GraphBox): number {
  return BOX.margin + row * (BOX.height + BOX.rowGap);
}

function drawEdge(from: GraphBox, to: GraphBox): Html {
  const [x1, x2] = [leftOf(from) + BOX.width, leftOf(to)];
  const [y1, y2] = [topOf(from) + BOX.height / 2, topOf(to) + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return html`<path d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}"/>`;
}

function drawBox(box: GraphBox): Html {
  const { node } = box;
  const { type, name, version, organization } = node;
  const note = [type, version, ...(node.context ? [node.context] : [])].join(" · ");
  const rest = [
    ...(box.isRepeated ? ["its dependencies are shown at another place"] : []),
    ...(box.hidden > 0 ? [`${box.hidden} more not shown`] : []),
  ];
  const title = [
    `${type} @${organization}/${name}@${version}`,
    ...(node.context ? [node.context] : []),
    ...rest,
  ];
  return html`<a href="${definitionPath(node)}" class="node ${type}"${rest.length > 0 && html` data-cut`}><title>${title.join(" · ")}</title>
<rect x="${leftOf(box)}" y="${topOf(box)}" width="${BOX.width}" height="${BOX.height}" rx="6"/>
<rect class="kind" x="${leftOf(box)}" y="${topOf(box)}" width="5" height="${BOX.height}" rx="2"/>
<text x="${leftOf(box) + 14}" y="${topOf(box) + 18}">${shorten(name, MAX_TITLE)}</text>
<text class="note" x="${leftOf(box) + 14}" y="${topOf(box) + 34}">${shorten(note, MAX_NOTE)}</text>${
    rest.length > 0 &&
    html`
<text class="cut" x="${leftOf(box) + BOX.width - 8}" y="${topOf(box) + 18}">${box.hidden > 0 ? `+${box.hidden}` : "…"}</text>`
  }</a>`;
}

function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
