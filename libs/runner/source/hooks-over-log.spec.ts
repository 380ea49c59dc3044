import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openReplyChannel, type ReplyChannel } from '#libs/ingress/reply-channel.js';
import { repliesOverLog } from '#libs/ingress/replies-over-log.js';
import { positionOf } from '#libs/kernel/events.js';
import { type HookRunner } from '#libs/sources/published.js';
import { HOOK_MARGIN_MS, hooksOverLog } from './hooks-over-log.js';
import { ok } from './testing/fake-sandbox.js';
import { RunnerWorld } from './testing/runner-world.js';
import { definition, until } from './testing/source-world.js';

const NEXT = definition({ bundleHash: 'next' });
const REQUEST = { sourceId: 'dc_1', workspaceId: 'o_1', definition: NEXT, hook: 'activate' } as const;

describe('hooks over the log', () => {
  let world: RunnerWorld;
  let channel: ReplyChannel;
  let hooks: HookRunner;
  const silent = { warn: () => undefined, error: () => undefined };

  /** Hook runner of the process that performs the operation. `timeoutMs` excludes the margin. */
  const api = (timeoutMs: number): HookRunner =>
    hooksOverLog({
      log: world.log,
      topics: world.topics,
      relay: channel.relay,
      events: { lastPosition: async () => positionOf(7) },
      clock: { now: () => Date.now() },
      timeoutMs,
    });

  beforeEach(async () => {
    world = new RunnerWorld();
    channel = await openReplyChannel({ log: world.log, processId: 'api', logger: silent });
    hooks = api(60_000);
    await world.source('dc_1');
  });
  afterEach(async () => {
    await channel.close();
    await world.close();
  });

  it('run in the process that runs the source, with its db', async () => {
    const replies = repliesOverLog(world.log, silent);
    const runner = await world.process({ replies, auto: () => ok() });
    expect(await hooks.runHook({ ...REQUEST, hook: 'deploy' })).toEqual({ status: 'ok', logs: [] });
    expect(world.journal.dbOf('dc_1')).toEqual({ hook: '1' });
    await hooks.runHook(REQUEST);
    await world.invoke('dc_1', ['a']);
    await until(() => world.open('dc_1') === 0);
    expect(runner.sandboxes.started.map(({ spec, hooks, started }) => [spec.bundleFile, hooks, started])).toEqual([
      ['/blobs/next', ['deploy', 'activate'], ['a']],
    ]);

    await hooks.operationEnded('dc_1');
    runner.follower.position = positionOf(7);
    for (let n = 0; runner.sandboxes.started.at(-1)?.spec.bundleFile !== '/blobs/hash'; n++) {
      await world.invoke('dc_1', [`b${n}`]);
      await until(() => world.open('dc_1') === 0);
    }
  });

  it('report the error that the hook threw', async () => {
    const error = { name: 'TypeError', message: 'no token', stack: 's', code: 'TypeError' };
    const logs = [{ k: 'console.log', ts: 1, msg: 'asking' }];
    const hook = async () => ok({ status: 'threw', error, logs });
    await world.process({ replies: repliesOverLog(world.log, silent), hook });
    expect(await hooks.runHook(REQUEST)).toEqual({ status: 'threw', error, logs });
  });

  it('emit a sample event, marked as a test, without the definition of an operation', async () => {
    const sample = { ...REQUEST, definition: definition(), hook: 'sample_emit' } as const;
    const { sandboxes } = await world.process({ replies: repliesOverLog(world.log, silent) });
    expect(await hooks.runHook(sample)).toEqual({ status: 'ok', logs: [] });
    const records = world.log.recordsOf(world.topics.emits('dc_1'));
    expect(records.map(({ headers, value }) => [headers['channel'], headers['test'], value])).toEqual([
      ['', '1', '"hook"'],
    ]);
    expect(sandboxes.started.map(({ spec, hooks: called }) => [spec.bundleFile, called])).toEqual([
      ['/blobs/hash', ['sample_emit']],
    ]);
  });

  it('tell the caller alone that a component has no sample event', async () => {
    const error = { name: 'Error', message: 'it exports nothing', stack: 's', code: 'NoSampleEmit' };
    const hook = async () => ok({ status: 'threw', error, logs: [{ k: 'console.log', ts: 1, msg: 'x' }] });
    await world.process({ replies: repliesOverLog(world.log, silent), hook });
    const sample = { ...REQUEST, definition: definition(), hook: 'sample_emit' } as const;
    expect(await hooks.runHook(sample)).toMatchObject({ status: 'threw', error });
    expect(world.emitted('dc_1')).toEqual([]);
  });

  it('are finished by the next owner of the source when the first one dies in the middle', async () => {
    const replies = repliesOverLog(world.log, silent);
    const first = await world.process({ replies, hook: () => new Promise(() => undefined) });
    const outcome = hooks.runHook(REQUEST);
    await until(() => first.sandboxes.started[0]?.hooks.length === 1);
    await first.runner.close(1);
    const second = await world.process({ replies });
    expect(await outcome).toEqual({ status: 'ok', logs: [] });
    expect(second.sandboxes.started[0]?.hooks).toEqual(['activate']);
    expect(world.emitted('dc_1').filter((value) => value === '"hook"')).toHaveLength(1);
  });

  it('without an answer fail as a platform error that says what to check', async () => {
    const impatient = api(10 - HOOK_MARGIN_MS);
    await expect(impatient.runHook(REQUEST)).rejects.toMatchObject({
      code: 'platform.unavailable',
      message: expect.stringMatching(
        /hook activate of source dc_1 was not answered within 0.01 s: check that a runner/,
      ),
    });
    // The operation has stopped waiting by now.
    const runner = await world.process();
    await until(() => world.open('dc_1') === 0);
    expect(runner.sandboxes.started).toEqual([]);
    expect(runner.logged).toEqual([expect.stringContaining('hook.too_late')]);
  });

  it('of a deleted source, or with a log that cannot write, fail at once', async () => {
    await expect(hooks.runHook({ ...REQUEST, sourceId: 'dc_gone' })).rejects.toMatchObject({
      code: 'source.not_found',
    });
    world.log.onNextPublish(() => {
      throw new Error('no broker');
    });
    await expect(hooks.runHook(REQUEST)).rejects.toThrow('no broker');
  });
});
