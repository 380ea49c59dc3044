import { v5 as uuidV5 } from 'uuid';
import { type ObjectMessage } from './message-records.js';

/** Fixed: a repeat of a message writes the same object. */
const OBJECT_NAMESPACE = '8f6d5a0e-0f2b-5f0c-9a55-3d1f6a2c7b14';

/** `$.send.s3` of a step, as its process checked it. */
export interface SentObject {
  readonly bucket: string;
  /** Ends with a slash or not. */
  readonly prefix: string;
  /** JSON text. */
  readonly payload: string;
}

/**
 * The message of `$.send.s3`. Its key `<prefix>/<yyyy>/<mm>/<dd>/<uuid>.json` is part of it, so each attempt writes the
 * same object. The length of the key does not depend on `id` and `at`.
 * @param at of the step's outcome.
 */
export const objectMessage = ({ bucket, prefix, payload }: SentObject, id: string, at: number): ObjectMessage => {
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  const day = new Date(at).toISOString().slice(0, 10).replaceAll('-', '/');
  return { kind: 's3', bucket, key: `${folder}${day}/${uuidV5(id, OBJECT_NAMESPACE)}.json`, payload };
};
