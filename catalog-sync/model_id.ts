/** What a model's id says of it: the same model has other spellings at other providers. */

/**
 * The id as models of different providers are compared by it: lower case, without what stands before the last `/` and
 * after the first `:` or `@`, and with `-` for `.` and `_`.
 */
export function normalizeModelId(id: string): string {
  const bare = id.toLowerCase().slice(id.lastIndexOf("/") + 1);
  return bare.replace(/[:@].*$/s, "").replaceAll(/[._]/g, "-");
}

/** The id's words, lower case and framed by `-`: `-deepseek-r1-thinking-`. */
export function idWords(id: string): string {
  return `-${id.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-`;
}

/** Words of models that turn text into numbers. */
const EMBEDDING = /embed(?:ding)?s?-|-(?:bge|gte|e5)-/;
/** Words of models whose answer is no running text. */
const NO_STREAM = /-(?:rerank(?:er|ing)?|moderations?|whisper|transcri(?:be|ption)|asr|stt|tts|speech)-/;

/** Whether the id is an embedding model's. */
export function isEmbedding(id: string): boolean {
  return EMBEDDING.test(idWords(id));
}

/** Whether the id is of a model that answers at once: embeddings, rankings, verdicts, transcripts, speech. */
export function answersAtOnce(id: string): boolean {
  const words = idWords(id);
  return EMBEDDING.test(words) || NO_STREAM.test(words);
}
