import { NESTING_EXCEEDED } from '#libs/component-model/step-run.js';
import { sendBytes } from '../protocol/run-size.js';
import { isFraming } from '../protocol/reply-headers.js';
import { type SendHead, wrongField } from '../protocol/step-message.js';
import { type Execution } from './execution.js';
import { jsonOf } from './json-of.js';
import { type Fields, type Kind } from './send-calls.js';
import { methodOf, requestOf, withParams } from './send-request.js';

interface Message {
  readonly head: SendHead;
  /** The texts that the head leaves out. */
  readonly raw: string;
}

/** Sends a message of a step to the server, which delivers it once the outcome of the step is durable. */
export const sendOfStep = (execution: Execution, kind: Kind, fields: Fields): void => {
  const { head, raw } = messageOf(kind, fields);
  const wrong = wrongField(kind, { ...head });
  if (wrong !== undefined)
    throw new TypeError(`$send.${kind}: the value for ${wrong} is too long, or holds characters that cannot be sent`);
  execution.count(sendBytes(head, Buffer.byteLength(raw)), `$send.${kind}`);
  execution.tell(['m', execution.n, head], raw);
};

const messageOf = (kind: Kind, fields: Fields): Message => {
  const json = (field: string): string => jsonOf(fields[field], `$send.${kind}: ${field}`, NESTING_EXCEEDED);
  const text = (field: string): string => fields[field] as string;
  switch (kind) {
    case 'http':
      return httpMessage(fields, json);
    case 'email': {
      const [plain, html] = [textOrNull(fields['text']), textOrNull(fields['html'])];
      const head = { kind, subject: text('subject'), text: lengthOf(plain), html: lengthOf(html) };
      return { head, raw: `${plain ?? ''}${html ?? ''}` };
    }
    case 'emit':
      return { head: { kind }, raw: json('raw_event') };
    case 's3':
      return { head: { kind, bucket: text('bucket'), prefix: text('prefix') }, raw: json('payload') };
    case 'sse':
      return { head: { kind, channel: text('channel') }, raw: json('payload') };
  }
};

const httpMessage = (fields: Fields, json: (field: string) => string): Message => {
  // Names a value that has no JSON, before the request is made of it.
  if (typeof fields['data'] === 'object' && fields['data'] !== null) json('data');
  const { headers, body } = requestOf(fields);
  const raw = body?.toWellFormed();
  const head = {
    kind: 'http',
    method: methodOf(fields),
    url: withParams(new URL(fields['url'] as string), fields['params']),
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !isFraming(name))),
    body: lengthOf(raw ?? null),
    retry: fields['retry'] === true,
  } as const;
  return { head, raw: raw ?? '' };
};

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value.toWellFormed() : null);
const lengthOf = (text: string | null): number | null => (text === null ? null : Buffer.byteLength(text));
