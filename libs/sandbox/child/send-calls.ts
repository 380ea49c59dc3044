import { MAX_SENDS } from '#libs/component-model/step-run.js';
import { SEND_METHODS, isKeyPrefix } from '../protocol/step-message.js';

export type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFilled: Check = (value) => typeof value === 'string' && value !== '';
const isObject: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isMethod: Check = (value) => typeof value === 'string' && SEND_METHODS.includes(value);
const isUrl: Check = (value) => typeof value === 'string' && URL.canParse(value) && /^https?:/i.test(value);
const isAuth: Check = (value) =>
  isObject(value) && isText((value as Fields)['username']) && isText((value as Fields)['password']);
const isAny: Check = () => true;

const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value);

/** Fields of each destination. Others are ignored (docs/reference/component-model.md#action-send). */
const SHAPES = {
  http: {
    method: maybe(isMethod),
    url: isUrl,
    data: isAny,
    headers: maybe(isObject),
    params: maybe(isObject),
    auth: maybe(isAuth),
  },
  email: { subject: isText, text: maybe(isText), html: maybe(isText) },
  emit: { raw_event: isObject, event: isAny },
  s3: { bucket: isFilled, prefix: isKeyPrefix, payload: (value) => value !== undefined },
  sse: { channel: isFilled, payload: (value) => value !== undefined },
} as const satisfies Record<string, Readonly<Record<string, Check>>>;

export type Kind = keyof typeof SHAPES;
const KINDS = Object.keys(SHAPES) as Kind[];

/** Throws naming the first wrong field. A value of `auth` and `headers` may be secret, so it is not repeated. */
const checked = (kind: Kind, input: unknown): Fields => {
  if (!isObject(input)) throw new TypeError(`$send.${kind}: invalid value ${shown(input)} for the argument`);
  const fields = input as Fields;
  const checks: Readonly<Record<string, Check>> = SHAPES[kind];
  for (const [field, check] of Object.entries(checks)) {
    if (check(fields[field])) continue;
    const isSecret = field === 'auth' || field === 'headers';
    const value = isSecret ? `of type ${typeof fields[field]}` : shown(fields[field]);
    throw new TypeError(`$send.${kind}: invalid value ${value} for ${field}`);
  }
  return fields;
};

const shown = (value: unknown): string => {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // A cyclic value has no JSON.
  }
  const plain = text ?? typeof value;
  return plain.length > 100 ? `${plain.slice(0, 100)}…` : plain;
};

/** The functions of `$.send` of one run. `take` gets each call in its checked form. */
export const sendFunctions = (
  take: (kind: Kind, fields: Fields) => void,
): Readonly<Record<Kind, (input: unknown) => void>> => {
  let count = 0;
  const send = (kind: Kind, input: unknown): void => {
    const fields = checked(kind, input);
    if (++count > MAX_SENDS) throw new Error(`$send.${kind}: one run may send at most ${MAX_SENDS} messages`);
    take(kind, fields);
  };
  const entries = KINDS.map((kind) => [kind, (input: unknown) => send(kind, input)] as const);
  return Object.fromEntries(entries) as Record<Kind, (input: unknown) => void>;
};
