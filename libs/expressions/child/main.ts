/** Entry point of the jailed process that evaluates expressions. Bundled to dist/libs/expressions/expressions-child.cjs. */
import { Socket } from 'node:net';
import { DOWN_FD, encodeRecord, MAX_RECORD_BYTES, RecordParser, UP_FD, type RawRecord } from '#libs/framing/records.js';
import { MAX_MESSAGE, readScope, type Answer, type Question } from '../messages.js';
import { ExpressionFailure, Realms, StepExpressions } from './step.js';
import { ExpressionSyntaxError, readExpression, readTemplate } from './template.js';

type Told = readonly [answer: Answer, json?: string];

const realms = new Realms();

const up = new Socket({ fd: UP_FD, readable: false, writable: true });
up.on('error', () => process.exit(1));

const answered = (question: Question, raw: Buffer): Told => {
  if (question.t === 'parse') return parse(raw.toString('utf8'), question.form);
  const { scope, rest } = readScope(question.scope, raw);
  const step = new StepExpressions(scope, question.leftMs, realms);
  try {
    const json =
      question.t === 'props'
        ? step.props(JSON.parse(rest) as Record<string, unknown>, question.types)
        : step.expression(rest, question.place);
    return [['value', step.used], json ?? ''];
  } catch (error) {
    if (!(error instanceof ExpressionFailure)) throw error;
    return [['failed', step.used, error.name, error.message.slice(0, MAX_MESSAGE)]];
  }
};

const parse = (text: string, form: Extract<Question, { t: 'parse' }>['form']): Told => {
  try {
    const parts = form === 'expression' ? [readExpression(text)] : readTemplate(text);
    for (const part of parts) {
      const refusal = 'code' in part ? realms.any().refusal(part.code) : undefined;
      if (refusal !== undefined && 'code' in part) return [['syntax', refusal.slice(0, MAX_MESSAGE), part.at]];
    }
    return [['parsed']];
  } catch (error) {
    if (!(error instanceof ExpressionSyntaxError)) throw error;
    return [['syntax', error.message.slice(0, MAX_MESSAGE), error.at]];
  }
};

const receive = ({ json, raw }: RawRecord): void => {
  const [answer, text = ''] = answered(JSON.parse(json.toString('utf8')) as Question, raw);
  up.write(encodeRecord(0, answer, [text]));
};

for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
const down = new Socket({ fd: DOWN_FD, readable: true, writable: false });
const parser = new RecordParser(MAX_RECORD_BYTES, receive);
down.on('data', (chunk: Buffer) => parser.push(chunk));
down.on('error', () => process.exit(1));
down.on('end', () => process.exit(0));
