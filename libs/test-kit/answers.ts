import path from 'node:path';
import { type SecretMask } from '#libs/runner/outcome/secret-mask.js';
import { type AnsweredRequest, type SentRequest } from '#libs/sandbox/index.js';
import { answerOf, requestOf } from './bodies.js';
import { type GivenState, type Request } from './published.js';
import { maskedRequest, recordedStubs, Recorder } from './recording.js';
import { Stubs } from './stubs.js';

/** Set by `sluice test --record`. */
const RECORDS = 'SLUICE_TEST_RECORD';

/** Answers the requests of a component. */
export interface Answers {
  answer(sent: SentRequest): Promise<AnsweredRequest>;
  /** The requests so far. */
  readonly requests: readonly Request[];
  /** Called once after the last request. */
  end(): void;
}

/**
 * @param test file of the test, to which the file of recorded requests is relative
 * @param mask of the secrets that are known by now
 */
export const answersFor = (http: GivenState['http'], test: string, mask: () => SecretMask): Answers => {
  const requests: Request[] = [];
  const noted = (sent: SentRequest): Request => {
    const request = requestOf(sent);
    requests.push(request);
    return request;
  };
  const isFile = typeof http === 'string';
  const file = isFile ? path.resolve(path.dirname(test), http) : '';
  if (isFile && process.env[RECORDS] === '1') {
    const recorder = new Recorder(file, mask);
    return { requests, answer: (sent) => recorder.answer(sent, noted(sent)), end: () => recorder.save() };
  }
  const stubs = new Stubs(isFile ? recordedStubs(file) : (http ?? []));
  const answer = async (sent: SentRequest): Promise<AnsweredRequest> => {
    const request = noted(sent);
    const asked = isFile ? maskedRequest(request, mask()) : request;
    const stub = stubs.take(asked);
    if (!stub) throw new Error(stubs.refusal(asked));
    return answerOf(typeof stub.reply === 'function' ? await stub.reply(request) : stub.reply);
  };
  return { requests, answer, end: () => undefined };
};
