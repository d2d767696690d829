/** Stands in for an OpenTelemetry collector: accepts OTLP/HTTP in protobuf encoding and keeps the spans. */

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** The parent's span id; empty for the root span of a trace. */
  parentSpanId: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  /** The resource attributes, which describe the process. */
  resource: Record<string, unknown>;
  /** The status code; 2 is `STATUS_CODE_ERROR`. */
  status: number;
}

export interface TraceCollector extends Disposable {
  url: string;
  spans: CollectedSpan[];
  /** The headers of all requests, in order. */
  headers: Headers[];
}

/** Starts the collector; `using` stops it. */
export function openTraceCollector(): TraceCollector {
  const spans: CollectedSpan[] = [];
  const headers: Headers[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      headers.push(request.headers);
      if (new URL(request.url).pathname !== "/v1/traces") return new Response(null, { status: 404 });
      spans.push(...readRequest(new Uint8Array(await request.arrayBuffer())));
      return new Response(new Uint8Array(), { headers: { "Content-Type": "application/x-protobuf" } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    headers,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** A protobuf field. The value of a length-delimited field is its bytes; every other value is a number. */
type Field = readonly [tag: number, value: Uint8Array | bigint | number];

function* readFields(bytes: Uint8Array): Generator<Field> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(readVarint());
    const tag = key >> 3;
    if ((key & 7) === 0) yield [tag, readVarint()];
    else if ((key & 7) === 2) {
      const length = Number(readVarint());
      yield [tag, bytes.subarray(at, at + length)];
      at += length;
    } else {
      yield [tag, (key & 7) === 1 ? view.getFloat64(at, true) : view.getFloat32(at, true)];
      at += (key & 7) === 1 ? 8 : 4;
    }
  }
}

function messages(bytes: Uint8Array, tag: number): Uint8Array[] {
  return [...readFields(bytes)].flatMap(([found, value]) =>
    found === tag && value instanceof Uint8Array ? [value] : [],
  );
}

function message(bytes: Uint8Array, tag: number): Uint8Array {
  return messages(bytes, tag)[0] ?? new Uint8Array();
}

function text(bytes: Uint8Array, tag: number): string {
  return new TextDecoder().decode(message(bytes, tag));
}

function number(bytes: Uint8Array, tag: number): number {
  return Number([...readFields(bytes)].find(([found]) => found === tag)?.[1] ?? 0);
}

/** Returns the attributes in the fields with this tag. */
function readAttributes(bytes: Uint8Array, tag: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(bytes, tag).map((pair) => {
      const [kind = 0, value] = [...readFields(message(pair, 2))][0] ?? [];
      return [text(pair, 1), kind === 1 ? text(message(pair, 2), 1) : Number(value)];
    }),
  );
}

function readRequest(bytes: Uint8Array): CollectedSpan[] {
  return messages(bytes, 1).flatMap((resourceSpans) => {
    const resource = readAttributes(message(resourceSpans, 1), 1);
    const spans = messages(resourceSpans, 2).flatMap((scope) => messages(scope, 2));
    return spans.map((span) => ({
      traceId: message(span, 1).toHex(),
      spanId: message(span, 2).toHex(),
      parentSpanId: message(span, 4).toHex(),
      name: text(span, 5),
      kind: number(span, 6),
      attributes: readAttributes(span, 9),
      resource,
      status: number(message(span, 15), 3),
    }));
  });
}
