import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TEST_LINE_BYTES } from '#libs/sandbox/index.js';
import { LinkServer } from './link-server.js';

let link: LinkServer;
let times = 0;
beforeEach(async () => {
  times = 0;
  link = await LinkServer.open({
    now: () => ++times,
    waitedUntil: () => true,
    isStuck: () => undefined,
    request: () => Promise.reject(new Error('no request')),
  });
});
afterEach(() => link.close());

/** What the link answers to chunks that a process sends. */
const answerTo = async (...chunks: readonly (string | Buffer)[]): Promise<string> => {
  const socket = connect({ path: link.path, allowHalfOpen: true });
  const answer = text(socket);
  for (const chunk of chunks) await new Promise((written) => socket.write(chunk, written));
  const whole = await answer;
  socket.end();
  return whole;
};

describe('the link of a component to its test', () => {
  it('answers one line, and not what comes after it', async () => {
    expect(await answerTo('NO', 'W\n')).toBe('OK 1\n');
    const socket = connect({ path: link.path, allowHalfOpen: true });
    const answer = text(socket);
    socket.write('NOW\n');
    expect(await answer).toBe('OK 2\n');
    socket.write('NOW\n');
    socket.end();
    await new Promise((closed) => socket.once('close', closed));
    expect(times).toBe(2);
  });

  it('keeps nothing of a line without end', async () => {
    const chunk = Buffer.alloc(TEST_LINE_BYTES / 4, 'x');
    const answer = await answerTo(...Array.from({ length: 8 }, () => chunk));
    expect(answer).toBe(`ERR EACCES a request of more than ${TEST_LINE_BYTES} bytes\n`);
  });
});
