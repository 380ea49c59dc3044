import { createParser } from 'eventsource-parser';

/** What a stream sends. */
export type Received =
  | { readonly kind: 'event'; readonly name: string; readonly id: string | undefined; readonly data: string }
  | { readonly kind: 'comment'; readonly text: string };

/** The largest event of a server has less, so that a wrong server cannot fill the memory. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/**
 * Reads a stream until it ends, as its user asks for more. Rejects when it breaks, or sends nothing for `silenceMs` while
 * more is wanted.
 */
export async function* received(body: ReadableStream<Uint8Array>, silenceMs: number): AsyncGenerator<Received> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let found: Received[] = [];
  let failure: Error | undefined;
  const parser = createParser({
    onEvent: ({ event, id, data }) => found.push({ kind: 'event', name: event ?? 'message', id, data }),
    onComment: (text) => found.push({ kind: 'comment', text }),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') failure = error;
    },
    maxBufferSize: MOST_CHARACTERS,
  });
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), silenceMs);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      if (failure) throw failure;
      yield* found;
      found = [];
    }
  } finally {
    // Nobody waits for a connection that is broken.
    reader.cancel().catch(() => undefined);
  }
}

const within = async <T>(work: Promise<T>, ms: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`silent for ${ms / 1_000} s`)), ms);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
};
