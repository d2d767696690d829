/** Normalizes and classifies model ids, because providers write the id of the same model differently. */

/**
 * Returns the id for comparisons between providers. It is in lower case, without the part before the last `/` and after the
 * first `:` or `@`, and with `-` in place of `.` and `_`.
 */
export function normalizeModelId(id: string): string {
  const bare = id.toLowerCase().slice(id.lastIndexOf("/") + 1);
  return bare.replace(/[:@].*$/s, "").replaceAll(/[._]/g, "-");
}

/** Returns the words of the id in lower case, with `-` around each word: `-deepseek-r1-thinking-`. */
export function idWords(id: string): string {
  return `-${id.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-`;
}

/** Words in the ids of embedding models. */
const EMBEDDING = /embed(?:ding)?s?-|-(?:bge|gte|e5)-/;
/** Words in the ids of models that do not output a stream of text. */
const NO_STREAM = /-(?:rerank(?:er|ing)?|moderations?|whisper|transcri(?:be|ption)|asr|stt|tts|speech)-/;

export function isEmbedding(id: string): boolean {
  return EMBEDDING.test(idWords(id));
}

/** Returns whether a model with this id never streams: embeddings, reranking, moderation, transcription and speech. */
export function isNeverStreamed(id: string): boolean {
  const words = idWords(id);
  return EMBEDDING.test(words) || NO_STREAM.test(words);
}
