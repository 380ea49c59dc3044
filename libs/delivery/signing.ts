import { HmacKey } from './hmac-key.js';

const PREFIX = 'whsec_';
const MIN_BYTES = 16;

/** One parsed key of a webhook. */
export interface SigningKey {
  /** `whsec_` + base64, as the receiver knows it. */
  readonly text: string;
  /** Decoded bytes, for the signature of Standard Webhooks. */
  readonly standard: HmacKey;
  /** The whole text, which is the HMAC key of `x-pd-signature`. */
  readonly compat: HmacKey;
}

/** Throws an Error that names the problem but not the key. */
export const parseSigningKey = (text: string): SigningKey => {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || bytes.length < MIN_BYTES) {
    throw new Error(`signing key is not ${PREFIX} followed by base64 of at least ${MIN_BYTES} bytes`);
  }
  return { text, standard: new HmacKey(bytes), compat: new HmacKey(Buffer.from(text)) };
};

/** Identifies an attempt to its receiver. Only `attempt` and the time change between retries. */
export interface AttemptIdentity {
  /** `dlv_…` */
  readonly delivery: string;
  readonly webhook: string;
  readonly emitter: string;
  readonly emit: string;
  /** Empty for the default channel. */
  readonly channel: string;
  readonly attempt: number;
  /** `rpl_…` for a delivery of a replay. */
  readonly replay: string | undefined;
}

/**
 * Encodes a channel name as a header value, which may contain visible ASCII only. A value with any other character is
 * percent-encoded as UTF-8, including its `%` and blanks. An unpaired surrogate becomes U+FFFD. Never throws.
 */
const headerText = (text: string): string =>
  /^(?! )[\x20-\x7e]*(?<! )$/.test(text) ? text : encodeURIComponent(Buffer.from(text).toString());

let isoSecond = -1;
let isoText = '';

/** Formats as `2026-01-31T12:00:00Z`; caches the text of the current second. */
const isoOf = (unixSeconds: number): string => {
  if (unixSeconds !== isoSecond) {
    isoSecond = unixSeconds;
    isoText = `${new Date(unixSeconds * 1000).toISOString().slice(0, 19)}Z`;
  }
  return isoText;
};

/** Signs `id.timestamp.body` as `v1,<base64>`, once per valid key, separated by spaces (Standard Webhooks). */
export const standardSignature = (
  keys: readonly SigningKey[],
  id: string,
  unixSeconds: number,
  body: Uint8Array,
): string => {
  let signature = '';
  for (const key of keys) {
    const digest = key.standard.sign(`${id}.${unixSeconds}.`, body, 'base64');
    signature += signature === '' ? `v1,${digest}` : ` v1,${digest}`;
  }
  return signature;
};

/** Signs `<t>.<body>` as `t=<unix>,v1=<hex>` (docs/reference/delivery.md#signature-compat). */
export const compatSignature = (key: SigningKey, unixSeconds: number, body: Uint8Array): string => {
  const digest = key.compat.sign(`${unixSeconds}.`, body, 'hex');
  return `t=${unixSeconds},v1=${digest}`;
};

/** The headers of an attempt without its signatures, for those who ask what was sent. */
export const unsignedHeaders = (
  identity: Omit<AttemptIdentity, 'replay'>,
  nowMs: number,
): Readonly<Record<string, string>> => {
  const pairs = signedHeaders([], { ...identity, replay: undefined }, nowMs, new Uint8Array());
  return Object.fromEntries(pairs.flatMap((name, i) => (i % 2 === 0 ? [[name, pairs[i + 1] ?? '']] : [])));
};

/**
 * Builds the headers of one attempt as name, value, name, value, signed over the exact bytes sent.
 * `keys`: newest first. During a rotation `webhook-signature` holds one signature per key. `x-pd-signature` uses the
 * newest key. Without keys the request carries no signature.
 */
export const signedHeaders = (
  keys: readonly SigningKey[],
  identity: AttemptIdentity,
  nowMs: number,
  body: Uint8Array,
): string[] => {
  const unixSeconds = Math.floor(nowMs / 1000);
  const headers = [
    'webhook-id',
    identity.delivery,
    'webhook-timestamp',
    String(unixSeconds),
    'x-pd-emitter-id',
    identity.emitter,
    'x-pd-timestamp',
    isoOf(unixSeconds),
    'x-pd-emit-id',
    identity.emit,
    'x-pd-event-name',
    headerText(identity.channel),
    'x-pd-webhook-id',
    identity.webhook,
    'x-pd-attempt',
    String(identity.attempt),
  ];
  if (identity.replay !== undefined) headers.push('x-pd-replay', identity.replay);
  const newest = keys[0];
  if (newest !== undefined) {
    headers.push('webhook-signature', standardSignature(keys, identity.delivery, unixSeconds, body));
    headers.push('x-pd-signature', compatSignature(newest, unixSeconds, body));
  }
  return headers;
};
