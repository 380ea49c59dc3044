import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type EmbeddedEngines } from '#libs/engines/embedded/index.js';
import { openEngines } from '#libs/engines/embedded/testing/open-engines.js';
import { attemptRecord, packAttempts } from '#libs/stream-log/attempt-records.js';
import { type LaneBatch } from '#libs/stream-log/stream-log.js';
import { attemptAt } from '#libs/stream-log/testing/attempts.js';
import { readManifest } from './archive-reader.js';
import { type MovedEngines } from './export-installation.js';
import { sealOf } from './import-installation.js';
import { IMPORT, ImportMark, IMPORTS } from './import-mark.js';
import { MESSAGE_GROUP } from '#libs/delivery/message-worker.js';
import { laneStateOf } from '#libs/runner/lane-state.js';
import { RUNS_FOLLOW, readStepDb } from '#libs/runner/workflow/step-dbs.js';
import { headOf } from '#libs/workflow-runs/stored-run.js';
import {
  contentsIn,
  contentsOf,
  ENDED_RUN,
  exportTo,
  fill,
  importFrom,
  perEmitter,
  QUEUED_RUN,
  queuedRun,
  shared,
} from './testing/moved-installation.js';

let scratch: string;
let archive: string;
let source: EmbeddedEngines;
const opened: EmbeddedEngines[] = [];
let folders = 0;

const folder = (): string => join(scratch, `folder-${++folders}`);
const engines = async (dataDir = folder()): Promise<EmbeddedEngines> => {
  const made = await openEngines(dataDir);
  opened.push(made);
  return made;
};

beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'sluice-move-'));
  archive = join(scratch, 'archive');
  source = await engines();
  await fill(source);
  await exportTo(source, archive);
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  rmSync(scratch, { recursive: true });
});

/** Records by key that a consumer group gets when it starts now. */
const consumed = async (target: EmbeddedEngines, group: string, prefix: string, count: number): Promise<string[]> => {
  const values: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const handler = async (batch: LaneBatch): Promise<void> => {
      values.push(...batch.records.map(({ value }) => value));
      if (values.length >= count) resolve();
    };
    target.log.consume({ group, topics: { prefix }, maxBatch: 10, maxUnacked: 10, handler }).catch(reject);
  });
  return values.sort();
};

describe('export and import', () => {
  it('moves everything to other engines, under their layout of topics, and back', async () => {
    const before = await contentsOf(archive);
    const [there, back] = [await engines(), await engines()];

    await importFrom(archive, there, shared);
    const away = folder();
    expect(await contentsIn(there, away)).toEqual(before);
    expect(await there.log.topics('')).toEqual([
      'attempts',
      'deliveries.shared',
      'emits.shared',
      'invocations.shared',
      'messages.shared',
      'runs.shared',
    ]);

    await importFrom(join(away, 'again'), back, perEmitter);
    expect(await contentsIn(back, folder())).toEqual(before);
    expect(await back.log.topics('')).toEqual([
      'attempts',
      'deliveries.wh_a',
      'emits.dc_a',
      'emits.dc_b',
      'emits.p_1',
      'invocations.dc_a',
      'invocations.dc_b',
      'invocations.p_1',
      'messages.p_1',
      'runs.p_1',
    ]);
  });

  it('keeps ids, order and times of events', async () => {
    const target = await engines();
    await importFrom(archive, target, perEmitter);
    const [then, now] = await Promise.all([source.events.readAll('0', 100), target.events.readAll('0', 100)]);
    const place = (events: typeof then) => events.map((e) => [e.id, e.stream, e.revision, e.recordedAt, e.data]);
    expect(place(now)).toEqual(place(then));
    expect(now).toHaveLength(10);
  });

  it.each([perEmitter, shared])('routes only the emits that the router had not routed', async (config) => {
    const target = await engines();
    await importFrom(archive, target, config);
    expect(await consumed(target, 'router', 'emits.', 2)).toEqual(['"unrouted too"', '{"unrouted":true}']);
    expect(Object.values(await target.log.lag('router', { prefix: 'emits.' })).reduce((a, b) => a + b)).toBe(2);
  });

  it('leaves out a routed emit that no list keeps, but not one that is still to be routed', async () => {
    const emit = (n: number) => ({
      topic: 'emits.dc_a',
      key: 'dc_a',
      headers: {
        kind: 'emit',
        id: `${n}-0`,
        emitter: 'dc_a',
        workspace: 'o_1',
        channel: '',
        emit: `e${n}`,
        nostore: '1',
      },
      value: `"private ${n}"`,
    });
    const [routed] = await source.log.publish([emit(8), emit(9)]);
    await source.log.setCommitted('router', { 'emits.dc_a': routed ?? -1 });
    const contents: Readonly<Record<string, unknown>> = await contentsIn(source, folder());
    expect(JSON.stringify(contents['emits-routed'])).not.toContain('private 8');
    expect(JSON.stringify(contents['emits-unrouted'])).toContain('private 9');
  });

  it('holds each attempt as a record of its own, also those that were recorded together', async () => {
    const attempts = [1, 2].map((n) => attemptAt(n, { key: 'wh_a' }));
    await source.log.publish(packAttempts(attempts).map(({ record }) => record));
    const contents: Readonly<Record<string, readonly unknown[]>> = await contentsIn(source, folder());
    const alone = attempts.map((attempt) => attemptRecord(attempt));
    expect(contents['attempts']).toMatchObject([
      { headers: { id: 'dlv_3/1' } },
      ...alone.map(({ headers }) => ({ headers })),
    ]);
    expect(contents['attempts']?.at(-1)).toMatchObject({ key: 'wh_a', value: alone[1]?.value });
  });

  it('moves the runs still to do, but no ended runs, in whatever order they ended, and no hooks', async () => {
    const { invocations } = await contentsOf(archive);
    expect(invocations).toMatchObject([{ headers: { id: 'inv_3' } }]);
    const target = await engines();
    await importFrom(archive, target, perEmitter);
    const { progress, version } = laneStateOf(await target.journal.load({ executable: 'dc_a' }));
    expect({ progress, version }).toEqual({ progress: { through: -1, above: [] }, version: 1 });
    expect(await consumed(target, 'runner', 'invocations.', 1)).toEqual(['{"of":"inv_3"}']);
  });

  it('moves what steps keep, with what a crash left out', async () => {
    const target = await engines();
    await importFrom(archive, target, perEmitter);
    expect(await readStepDb(target.journal, 'p_1', 'c_1')).toEqual({ n: '2' });
  });

  it('moves runs that ended, and those that go on, before all that arrive later', async () => {
    const target = await engines();
    await importFrom(archive, target, perEmitter);
    const { runs } = await target.runHistory.page({ of: { workflowId: 'p_1' }, limit: 9 });
    expect(runs.map(({ id, state }) => [id, state.head.status])).toEqual([
      [QUEUED_RUN, 'queued'],
      [ENDED_RUN, 'succeeded'],
    ]);
    const ended = await source.runHistory.whole(ENDED_RUN);
    expect((await target.runHistory.whole(ENDED_RUN))?.state.parts).toEqual(ended?.state.parts);

    const [left, ...others] = await target.journal.runs('p_1', RUNS_FOLLOW, 9);
    expect([left?.run, others]).toEqual([QUEUED_RUN, []]);
    expect(headOf(left?.head ?? '{}').place).toBeLessThan(0);
    const { version, parts } = await target.journal.load({ executable: 'p_1', run: QUEUED_RUN });
    expect({ version, parts }).toEqual({ version: 1, parts: queuedRun().parts });
    expect(await consumed(target, MESSAGE_GROUP, 'messages.', 1)).toEqual(['{"of":"snd_2"}']);
    // The event of the run is not there to begin it twice.
    expect(await target.log.read('invocations.p_1', -1, 9)).toEqual([]);
  });

  it('holds no secret in clear text', async () => {
    for (const file of readdirSync(archive)) {
      const bytes = readFileSync(join(archive, file));
      const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
      expect(text).not.toContain('plain-text-secret');
    }
    const manifest = await readManifest(archive);
    expect(() => sealOf(manifest, Buffer.alloc(32, 8))).toThrow(/SLUICE_SECRET_KEY is not the key/);
  });
});

describe('an import that was interrupted', () => {
  /** Wraps the engines so that writes fail from the nth on. */
  const failing = (target: MovedEngines, from: number): MovedEngines => {
    let writes = 0;
    const writing =
      /^(append|put|set|commit|save|createTopic|deleteTopic|publish|setCommitted|apply|activateGeneration)$/;
    const guarded = <T extends object>(port: T): T =>
      new Proxy(port, {
        get(object, name) {
          const member: unknown = Reflect.get(object, name);
          if (typeof member !== 'function') return member;
          return (...args: unknown[]): unknown => {
            if (writing.test(String(name)) && ++writes > from) return Promise.reject(new Error('power cut'));
            return member.apply(object, args) as unknown;
          };
        },
      });
    const { events, log, journal, runHistory, due, ticks, vault, blobs, records, readModels, delayed } = target;
    return {
      events: guarded(events),
      log: guarded(log),
      journal: guarded(journal),
      runHistory: guarded(runHistory),
      due: guarded(due),
      delayed: guarded(delayed),
      ticks: guarded(ticks),
      vault: guarded(vault),
      blobs: guarded(blobs),
      records: guarded(records),
      readModels: guarded(readModels),
    };
  };

  it('continues from where it stopped when it is repeated, and duplicates nothing', async () => {
    const target = await engines();
    await target.readModels.register(IMPORTS);
    const stage = async (): Promise<string> => JSON.stringify(await target.readModels.get(IMPORTS, IMPORT));
    const stages = new Set<string>();
    let interrupted = 0;
    // Each write is once the first to fail, counted from the start of the stage that a repeat starts with.
    for (let at = await stage(), writes = 0; ; interrupted++) {
      try {
        await importFrom(archive, failing(target, writes++), perEmitter);
        break;
      } catch (error) {
        expect(String(error)).toContain('power cut');
      }
      const now = await stage();
      if (now !== at) writes = 0;
      stages.add((at = now));
    }
    expect(stages.size).toBe(4);
    expect(interrupted).toBeGreaterThan(40);
    expect(await contentsIn(target, folder())).toEqual(await contentsOf(archive));
  }, 60_000);

  it('is not continued by an import of another archive', async () => {
    const other = folder();
    await exportTo(source, other);
    const target = await engines();
    await expect(importFrom(archive, failing(target, 20), perEmitter)).rejects.toThrow('power cut');
    await expect(importFrom(other, target, perEmitter)).rejects.toThrow(/another archive .*interrupted/);
  });
});

describe('import refuses', () => {
  it('a target that is not empty, and names its contents', async () => {
    const target = await engines();
    await fill(target);
    await expect(importFrom(archive, target, perEmitter)).rejects.toThrow(
      /not empty, it holds events \(the first is SourceDeploymentStarted of .*\), states of sources and workflows, runs of workflows, secrets, /,
    );
  });

  it('to repeat a finished import', async () => {
    const target = await engines();
    await importFrom(archive, target, perEmitter);
    await expect(importFrom(archive, target, perEmitter)).rejects.toThrow(/holds all of this archive already/);
  });

  it('to continue in a target that was used since', async () => {
    const target = await engines();
    const mark = await ImportMark.claim(target, (await readManifest(archive)).archive);
    const [first] = await source.events.readAll('0', 1);
    if (!first) throw new Error('the source has no event');
    const { type, data, metadata } = first;
    const own = { id: '0d4a2cb2-5d0c-4f0e-9d1c-2f2f7a4f6a11', type, data, metadata };
    await target.events.append('source-dc_new', [own], 'no_stream');
    await expect(importFrom(archive, target, perEmitter)).rejects.toThrow(
      /holds .* of source-dc_new at place 1, unlike this archive/,
    );
    expect(mark.stage).toBe('state');
    expect(await target.journal.load({ executable: 'dc_a' })).toMatchObject({ version: 0 });
  });

  it('a target folder of an export that is not empty', async () => {
    await expect(exportTo(source, archive)).rejects.toThrow(/is not empty/);
  });
});
