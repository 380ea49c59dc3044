/** What the process of a tested component and its test tell each other, as JSON in lines. */

/** Bytes of one line, with the body of a request or an answer as base64. */
export const TEST_LINE_BYTES = 32 * 1024 * 1024;

export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** A request of the component. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderPairs;
  /** Base64. */
  readonly body: string;
}

export interface AnsweredRequest {
  readonly status: number;
  readonly headers: HeaderPairs;
  /** Base64. */
  readonly body: string;
}
