/** Entry point of the jailed process that evaluates expressions. Bundled to dist/libs/expressions/expressions-child.cjs. */
import { Socket } from 'node:net';
import { DOWN_FD, encodeRecord, MAX_RECORD_BYTES, RecordParser, UP_FD, type RawRecord } from '#libs/framing/records.js';
import {
  MAX_FAULT_TEXT,
  MAX_FAULTS,
  MAX_MESSAGE,
  readScope,
  type Answer,
  type ExpressionText,
  type Question,
  type SyntaxFault,
} from '../messages.js';
import { ExpressionFailure, Realms, StepExpressions } from './step.js';
import { ExpressionSyntaxError, readExpression, readTemplate } from './template.js';
import { locate, readYaml } from './yaml-text.js';

type Told = readonly [answer: Answer, json?: string];

const realms = new Realms();

const up = new Socket({ fd: UP_FD, readable: false, writable: true });
up.on('error', () => process.exit(1));

const answered = (question: Question, raw: Buffer): Told => {
  switch (question.t) {
    case 'parse':
      return [['parsed', parse(JSON.parse(raw.toString('utf8')) as readonly ExpressionText[])]];
    case 'yaml':
      return document(raw.toString('utf8'));
    case 'locate':
      return [['places', locate(raw.toString('utf8'), question.paths)]];
    case 'props':
    case 'expression':
      return evaluated(question, raw);
  }
};

type Evaluated = Extract<Question, { t: 'props' | 'expression' }>;

const evaluated = (question: Evaluated, raw: Buffer): Told => {
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

const document = (text: string): Told => {
  const read = readYaml(text);
  switch (read.kind) {
    case 'value':
      return [['document'], read.json];
    case 'faults':
      return [['faults', read.faults]];
    case 'too_large':
      return [['too_large']];
  }
};

/** The first fault of each text, of the first texts that have one. */
const parse = (texts: readonly ExpressionText[]): readonly SyntaxFault[] => {
  const faults: SyntaxFault[] = [];
  for (const [index, text] of texts.entries()) {
    if (faults.length === MAX_FAULTS) break;
    const fault = faultOf(text);
    if (fault) faults.push([index, fault.message.slice(0, MAX_FAULT_TEXT), fault.at]);
  }
  return faults;
};

const faultOf = ([form, text]: ExpressionText): { readonly message: string; readonly at: number } | undefined => {
  try {
    const parts = form === 'expression' ? [readExpression(text)] : readTemplate(text);
    for (const part of parts) {
      const message = 'code' in part ? realms.any().refusal(part.code) : undefined;
      if (message !== undefined && 'code' in part) return { message, at: part.at };
    }
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionSyntaxError) return error;
    throw error;
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
