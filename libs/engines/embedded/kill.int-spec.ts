import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type EmbeddedEngines } from './index.js';
import { openEngines } from './testing/open-engines.js';

const ROUNDS = 6;
const child = fileURLToPath(
  new URL('../../../dist/libs/engines/embedded/testing/acknowledged-writer.js', import.meta.url),
);
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-kill-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

/** Lets the writer work until `lines` writes are acknowledged, kills it, and returns its output lines. */
const writeUntilKilled = async (lines: number): Promise<string[]> => {
  const writer = spawn(process.execPath, [child, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(writer, 'exit');
  const said: string[] = [];
  for await (const line of createInterface({ input: writer.stdout })) {
    said.push(line);
    if (said.length === lines) writer.kill('SIGKILL');
  }
  expect(await gone).toEqual([null, 'SIGKILL']);
  return said;
};

const checkAppends = async (engines: EmbeddedEngines, said: readonly string[]): Promise<void> => {
  const acknowledged = new Map<string, number>();
  for (const line of said) {
    const [kind, stream = '', n] = line.split(' ');
    if (kind === 'append') acknowledged.set(stream, Number(n));
  }
  for (const [stream, last] of acknowledged) {
    const stored: number[] = [];
    for await (const event of engines.events.read(stream)) stored.push((event.data as { n: number }).n);
    expect(stored.length).toBeGreaterThan(last);
    expect(stored).toEqual(stored.map((_, i) => i));
  }
};

const checkPublished = async (engines: EmbeddedEngines, said: readonly string[]): Promise<void> => {
  const stored = new Set((await engines.log.read('published', -1, 1_000_000)).map(({ headers }) => headers.id));
  const lost = said.filter((line) => line.startsWith('publish ') && !stored.has(line.slice('publish '.length)));
  expect(lost).toEqual([]);
};

/** Checks that state, db and emits of a source are at the same version, because a commit is atomic. */
const checkCommits = async (engines: EmbeddedEngines, said: readonly string[]): Promise<void> => {
  for (const sourceId of ['dc_0', 'dc_1', 'dc_2', 'dc_3']) {
    const state = await engines.journal.load({ executable: sourceId });
    const emits = await engines.log.read(`emits.${sourceId}`, -1, 1_000_000);
    expect(emits.map(({ headers }) => Number(headers.id))).toEqual(Array.from({ length: state.version }, (_, i) => i));
    expect(state.parts.emitted).toBe(state.version === 0 ? undefined : String(state.version));
    const acknowledged = said.filter((line) => line.startsWith(`commit ${sourceId} `)).at(-1);
    if (acknowledged) expect(state.version).toBeGreaterThanOrEqual(Number(acknowledged.split(' ')[2]));
    const newest = `inv_${state.version - 1}`;
    if (state.version > 0)
      expect(await engines.journal.seen({ executable: sourceId }, [newest])).toEqual(new Set([newest]));
  }
};

describe('kill -9 of a process that writes', () => {
  it.each(Array.from({ length: ROUNDS }, (_, i) => i))(
    'loses nothing acknowledged, round %i',
    async (round) => {
      const said = await writeUntilKilled(400 + 700 * round);
      // The lock of the killed process ends with it.
      const engines = await openEngines(dataDir);
      try {
        await checkAppends(engines, said);
        await checkPublished(engines, said);
        await checkCommits(engines, said);
      } finally {
        await engines.close();
      }
    },
    60_000,
  );
});
