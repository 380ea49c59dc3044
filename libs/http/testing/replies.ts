import { type Response } from 'supertest';

export interface ErrorReply {
  readonly status: number;
  readonly code: string;
  readonly error: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** Status and error body of a reply, so that a spec can check both in one expectation. */
export const errorOf = (reply: Response): ErrorReply => {
  const { error, code, details = {} } = reply.body as Partial<ErrorReply>;
  return { status: reply.status, error: error ?? '', code: code ?? '', details };
};

/** Returns `data` of a single-object reply. Fails with the whole reply when there is none. */
export const dataOf = (reply: Response): JsonObject => {
  const { data } = reply.body as { data?: JsonObject };
  if (typeof data !== 'object') throw new Error(`no data in ${reply.status} ${JSON.stringify(reply.body)}`);
  return data;
};

/** Returns `data` of a list reply. */
export const itemsOf = (reply: Response): readonly JsonObject[] => {
  const { data } = reply.body as { data?: readonly JsonObject[] };
  if (!Array.isArray(data)) throw new Error(`no list in ${reply.status} ${JSON.stringify(reply.body)}`);
  return data as readonly JsonObject[];
};
