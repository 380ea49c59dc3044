import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

/** Every port that an adapter folder implements is run through its suite there, whole. Doubles of a port run it too. */

const engines = join(dirname(fileURLToPath(import.meta.url)), '..');
const PORTS = [
  'EventStore',
  'ReadModelStore',
  'LaneWrites',
  'StreamLog',
  'RunJournal',
  'RunHistory',
  'Vault',
  'BlobStore',
  'DueStore',
  'DelayedEvents',
  'TickStore',
  'Leases',
  'ProcessRegistry',
  'UsageStore',
  'DataStoreRecords',
] as const;

const filesIn = (folder: string): { name: string; text: string }[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
const sourcesOf = (folder: string): { name: string; text: string }[] => filesIn(join(engines, folder));

const isSpec = (name: string): boolean => /\.(int-)?spec\.ts$/.test(name);
const adapters = readdirSync(engines, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'conformance')
  .map(({ name }) => name);

describe('conformance suites', () => {
  it('exist for every port, each with its list of parts', () => {
    const suites = sourcesOf('conformance').filter(({ name }) => name.endsWith('.suite.ts'));
    const text = suites.map((suite) => suite.text).join('\n');
    for (const port of PORTS) {
      expect(text).toContain(`export const describe${port} = `);
      const parts = port.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();
      expect(text).toMatch(new RegExp(`export const ${parts}_PARTS = \\[`));
    }
  });

  it('run all of their parts, with no test left out or singled out', () => {
    // runParts takes a Record of the parts' names, so a part without tests does not compile. Its one skip is for the
    // parts that a double omits, and only the functions describe…Double let a caller omit any.
    const marks = /\b(it|describe|test)\.(skip|only|todo|failing)|\bx(it|describe|test)\b/g;
    for (const { name, text } of sourcesOf('conformance')) {
      if (name === 'coverage.spec.ts') continue;
      expect([name, ...(text.match(marks) ?? [])]).toEqual(name === 'run-parts.ts' ? [name, 'describe.skip'] : [name]);
      for (const [declared] of text.matchAll(/^export const describe\w+ =[^;]*\bomitted\b/gm)) {
        expect(declared).toMatch(/^export const describe\w+Double =/);
      }
    }
  });

  it('are run by every double in a testing folder that implements a port', () => {
    const spec = sourcesOf('conformance').find(({ name }) => name === 'in-memory.spec.ts')?.text ?? '';
    const doubles = filesIn(join(engines, '..'))
      .filter(({ name }) => name.includes('/testing/'))
      .flatMap(({ text }) => [...text.matchAll(/class (\w+) implements ([^{]*)/g)])
      .filter(([, , implemented = '']) => PORTS.some((port) => new RegExp(`\\b${port}\\b`).test(implemented)))
      .map(([, name = '']) => name);
    expect(doubles).toContain('InMemoryStreamLog');
    for (const name of doubles) expect(spec).toContain(`new ${name}(`);
  });

  it('finds adapters to look at', () => {
    expect(adapters).toContain('embedded');
  });

  it.each(adapters)('of every port that %s implements are run by it', (adapter) => {
    const sources = sourcesOf(adapter);
    const code = sources.filter(({ name }) => !isSpec(name)).map(({ text }) => text);
    const specs = sources.filter(({ name }) => isSpec(name)).map(({ text }) => text);
    const implemented = PORTS.filter((port) =>
      code.some((text) => new RegExp(`implements .*\\b${port}\\b`).test(text)),
    );
    const run = PORTS.filter((port) => specs.some((text) => new RegExp(`^\\s*describe${port}\\(`, 'm').test(text)));
    expect(run).toEqual(implemented);
    for (const text of specs)
      expect(text).not.toMatch(/\b(it|describe|test)\.(skip|only|todo|failing)|\bx(it|describe)\b/);
  });
});
