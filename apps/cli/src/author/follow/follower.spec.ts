import { describe, expect, it } from '@jest/globals';
import { CommandFailure } from '../failure.js';
import { type Fields } from '../json.js';
import { Follower } from './follower.js';

const away = new CommandFailure({ exit: 7, code: 'no_server', message: 'away' });
const gone = new CommandFailure({ exit: 4, code: 'source_not_found', status: 404, message: 'gone' });

const event = (n: number, name = 'events'): string =>
  `event: ${name}\nid: ${n}000/dc_a/${n}-0\ndata: {"id":"${n}-0","metadata":{"emitter_id":"dc_a"}}\n\n`;
const at = (ms: number): string => `:${ms}/\nid: ${ms}/\n\n`;

/** Parts of a connection that then ends, stays silent, or could not be opened. */
type Connection = { readonly parts: readonly string[]; readonly then?: 'silent' } | CommandFailure;

const bodyOf = (connection: Exclude<Connection, CommandFailure>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const part of connection.parts) controller.enqueue(Buffer.from(part));
      if (connection.then === undefined) controller.close();
    },
  });

/** Follows connections one after another, until the last one is refused. */
const followed = async (...connections: readonly Connection[]) => {
  const told: string[] = [];
  const cursors: (string | undefined)[] = [];
  const records: Fields[] = [];
  let n = 0;
  const follower = new Follower({
    open: async (cursor) => {
      cursors.push(cursor);
      const connection = connections[n++] ?? gone;
      if (connection instanceof CommandFailure) throw connection;
      return bodyOf(connection);
    },
    tell: (text) => told.push(text),
    signal: new AbortController().signal,
    silenceMs: 50,
    waitsS: [0, 0.001],
  });
  await follower.connect();
  const failure = await (async () => {
    for await (const { data } of follower.records()) records.push(data);
  })().catch((error: unknown) => error);
  return { told, cursors, records, ids: records.map(({ id }) => id), failure };
};

/** The numbers are those of the checks of the command line. */
// docs/reference/command-line.md#follow
describe('a follower', () => {
  it('tells each record once over lost connections, and resumes after the last cursor', async () => {
    const { ids, cursors, told, failure } = await followed(
      { parts: [':keep-alive\n\n', at(1), event(1), event(2)] },
      { parts: [':keep-alive\n\n', event(1), event(2), event(3), at(9_000)] },
    );
    expect(ids).toEqual(['1-0', '2-0', '3-0']);
    expect(cursors).toEqual([undefined, '2000/dc_a/2-0', '9000/']);
    expect(told).toEqual([
      'Connection lost. Trying again in 0 s.',
      'Connected again.',
      'Connection lost. Trying again in 0.001 s.',
    ]);
    expect(failure).toBe(gone);
  });

  it('takes the cursor of a server that had nothing to send', async () => {
    const { cursors } = await followed({ parts: [at(5_000)] });
    expect(cursors).toEqual([undefined, '5000/']);
  });

  it('sends no cursor back that is none', async () => {
    const wrong = (id: string): string => `event: events\nid: ${id}\ndata: {"id":"2-0"}\n\n`;
    const { cursors } = await followed(
      { parts: [event(1), wrong(`9000/${'x'.repeat(1_000)}`)] },
      { parts: [wrong('9000/\u2028')] },
    );
    expect(cursors).toEqual([undefined, '1000/dc_a/1-0', '1000/dc_a/1-0']);
  });

  it('keeps records of other streams and emitters apart', async () => {
    const { ids } = await followed({ parts: [event(1), event(1, 'errors'), event(1)] });
    expect(ids).toEqual(['1-0', '1-0']);
  });

  it('tells a run once', async () => {
    const run = (n: number): string => `event: invocations\nid: ${n}/dc_a/${n}\ndata: {"invocation_id":"inv_${n}"}\n\n`;
    const { records } = await followed({ parts: [run(1), run(2)] }, { parts: [run(2), run(3)] });
    expect(records).toEqual([{ invocation_id: 'inv_1' }, { invocation_id: 'inv_2' }, { invocation_id: 'inv_3' }]);
  });

  // The silence of a server is 40 s.
  it('40: takes silence for a lost connection', async () => {
    const { ids, told } = await followed({ parts: [event(1)], then: 'silent' }, { parts: [event(2)] });
    expect(ids).toEqual(['1-0', '2-0']);
    expect(told.slice(0, 2)).toEqual(['Connection lost. Trying again in 0 s.', 'Connected again.']);
  });

  it('tries again while no server answers', async () => {
    const { told, ids } = await followed({ parts: [] }, away, away, { parts: [at(1), event(1)] });
    expect(told.slice(0, 4)).toEqual([
      'Connection lost. Trying again in 0 s.',
      'Connection lost. Trying again in 0.001 s.',
      'Connection lost. Trying again in 0.001 s.',
      'Connected again.',
    ]);
    expect(ids).toEqual(['1-0']);
  });

  it('41: tells what is no longer kept', async () => {
    const since = new Date(2026, 0, 2, 12, 3, 4).getTime();
    const gap = `event: gap\ndata: {"since":${since}}\n\n`;
    const { told } = await followed({ parts: [event(1)] }, { parts: [':keep-alive\n\n', gap, event(9)] });
    expect(told[1]).toBe('Connected again; events before 12:03:04 are no longer kept.');
  });

  it('tells what a server left out', async () => {
    const { told } = await followed({ parts: ['event: skipped\ndata: {"count":7}\n\n'] });
    expect(told[0]).toBe('7 were left out, because there were too many in a second.');
  });

  it('knows what was told of the history', () => {
    const follower = new Follower({
      open: () => Promise.reject(away),
      tell: () => undefined,
      signal: AbortSignal.abort(),
    });
    const record = { id: '1-0', metadata: { emitter_id: 'dc_a' } };
    expect([follower.isRepeat('events', record), follower.isRepeat('events', record)]).toEqual([false, true]);
  });

  it('rejects when the first connection fails, and ends with the signal', async () => {
    await expect(followed(away)).rejects.toBe(away);
    const ended = new AbortController();
    const open = async (): Promise<ReadableStream<Uint8Array>> => bodyOf({ parts: [], then: 'silent' });
    const follower = new Follower({ open, tell: () => undefined, signal: ended.signal, silenceMs: 20 });
    await follower.connect();
    setTimeout(() => ended.abort(), 5);
    const records = [];
    for await (const record of follower.records()) records.push(record);
    expect(records).toEqual([]);
  });
});
