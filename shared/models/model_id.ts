/** Reads model ids: providers spell the id of the same model differently. */

/**
 * Returns the id for comparisons between providers: lower case, without everything before the last `/` and after the first
 * `:` or `@`, and with `-` for `.` and `_`.
 */
export function normalizeModelId(id: string): string {
  const bare = id.toLowerCase().slice(id.lastIndexOf("/") + 1);
  return bare.replace(/[:@].*$/s, "").replaceAll(/[._]/g, "-");
}

/** Returns the id's words in lower case between `-`: `-deepseek-r1-thinking-`. */
export function idWords(id: string): string {
  return `-${id.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-`;
}

/** Words of models that turn text into numbers. */
const EMBEDDING = /embed(?:ding)?s?-|-(?:bge|gte|e5)-/;
/** Words of models whose output is not a stream of text. */
const NO_STREAM = /-(?:rerank(?:er|ing)?|moderations?|whisper|transcri(?:be|ption)|asr|stt|tts|speech)-/;

export function isEmbedding(id: string): boolean {
  return EMBEDDING.test(idWords(id));
}

/** Whether the id names a model that never streams: embeddings, reranking, moderation, transcription, speech. */
export function isNeverStreamed(id: string): boolean {
  const words = idWords(id);
  return EMBEDDING.test(words) || NO_STREAM.test(words);
}
