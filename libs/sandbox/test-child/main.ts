/**
 * Entry point of the process in which a test runs a component (libs/test-kit). Bundled to dist/libs/sandbox/test-child.cjs.
 * Time stands still, and the test answers requests. All else is the child of a server.
 */
import { type RawRecord } from '#libs/framing/records.js';
import { type HostMessage } from '../protocol/protocol.js';
import { type RunningChild, startChild } from '../child/start-child.js';
import { answerRequests } from './answered-requests.js';
import { StoppedClock } from './stopped-clock.js';
import { TestLink } from './test-link.js';

const clock = new StoppedClock();
const link = new TestLink();
answerRequests(link);

let last: Promise<void> = Promise.resolve();

/** Passes records that start code on in order, each once the clock shows the time of the test. */
const receive = ({ index, json, raw }: RawRecord, child: RunningChild): void => {
  const message = JSON.parse(json.toString('utf8')) as HostMessage;
  if (message.t === 'init') link.open(message.settings.egress);
  if (!STARTS_CODE.has(message.t)) return child.receive({ index, json, raw });
  // The parser uses the bytes of a record again.
  const kept = { index, json: Buffer.from(json), raw: Buffer.from(raw) };
  const start = async (): Promise<void> => {
    clock.set(await link.now());
    child.receive(kept);
    clock.follow(child, link);
  };
  // Without its test, the process has nothing to do.
  last = last.then(start).catch(() => process.reallyExit(1));
};

const STARTS_CODE: ReadonlySet<HostMessage['t']> = new Set(['init', 'run', 'hook', 'ask'] as const);

startChild(receive);
