import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { signedHeaders, parseSigningKey } from '#libs/delivery/signing.js';
import { ERROR_TABLE } from '#libs/http/error-table.js';
import { Metrics } from '#libs/telemetry/index.js';
import { commandLineReference } from './command-line-reference.js';
import { metricsInCode, metricsReference } from './metrics-reference.js';

const page = (name: string): string => readFileSync(`docs/reference/${name}.md`, 'utf8');

/** Cells of the tables in a part of a page. */
const rows = (text: string): readonly (readonly string[])[] =>
  text
    .split('\n')
    .filter((line) => /^ *\|/.test(line) && !/^ *\| *-/.test(line))
    .map((line) =>
      line
        .trim()
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );

/** Codes that have no row in the table of the code, because no DomainError carries them. */
const WITHOUT_ROW = ['bad_request', 'internal_error'];

describe('docs/reference/errors.md', () => {
  const text = page('errors');
  const part = text.slice(text.indexOf('## Codes of the API'), text.indexOf('## Before a request is read'));
  const documented = rows(part)
    .filter(([first = '']) => first.includes('`'))
    .flatMap(([first = '', status = '', meaning = '', remedy = '']) =>
      [...first.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => ({ code, status, meaning, remedy })),
    );

  it('describes every code that the API can answer, and no other', () => {
    const inCode = [...new Set(Object.values(ERROR_TABLE).map(({ word }) => word)), ...WITHOUT_ROW];
    expect(documented.map(({ code }) => code).sort()).toEqual(inCode.sort());
  });

  it('gives each the status that the API answers, a meaning and a remedy', () => {
    for (const { word, status } of Object.values(ERROR_TABLE)) {
      const row = documented.find(({ code }) => code === word);
      expect({ word, status: row?.status, hasMeaning: (row?.meaning.length ?? 0) > 10 }).toEqual({
        word,
        status: String(status),
        hasMeaning: true,
      });
      if (!row?.meaning.startsWith('Reserved')) expect({ word, remedy: row?.remedy }).not.toEqual({ word, remedy: '' });
    }
  });
});

describe('docs/reference/delivery.md', () => {
  it('lists the headers that a webhook gets, and no other', () => {
    const text = page('delivery');
    const start = text.indexOf('<a id="webhook-headers">');
    const listed = rows(text.slice(start, text.indexOf('<a id="webhook-event-name">')))
      .map(([name = '']) => /^`([a-z-]+)`$/.exec(name)?.[1])
      .filter((name) => name !== undefined);
    const emit = { emitter: 'dc_1', emit: 'e1', channel: '' };
    const identity = { delivery: 'dlv_1', webhook: 'wh_1', ...emit, attempt: 1, replay: 'rpl_1' };
    const key = parseSigningKey(`whsec_${Buffer.alloc(24, 3).toString('base64')}`);
    const sent = signedHeaders([key], identity, 0, Buffer.from('{}')).filter((_, n) => n % 2 === 0);
    const general = ['content-type', 'user-agent', 'content-length', 'host'];
    expect([...listed].sort()).toEqual(sent.filter((name) => !general.includes(name)).sort());
  });
});

describe('docs/reference/metrics.md', () => {
  it('is what the code registers (fix: npm run docs:reference)', () => {
    expect(page('metrics')).toBe(metricsReference());
  });

  it('knows the type and labels of each metric that every process has, as the registry does', async () => {
    const registered = (await new Metrics().registry.getMetricsAsJSON()).filter(({ name }) =>
      name.startsWith('sluice_'),
    );
    const known = new Map(metricsInCode().map((metric) => [metric.name, metric]));
    expect(registered.length).toBeGreaterThan(8);
    for (const { name, help, type } of registered) expect({ name, help, type }).toEqual(pick(known.get(name)));
  });
});

const pick = (row?: { name: string; help: string; type: string }): object | undefined =>
  row && { name: row.name, help: row.help, type: row.type };

describe('docs/reference/command-line.md', () => {
  // Each command ends with 0 for it.
  it('63: is what --help of every command prints (fix: npm run docs:reference)', async () => {
    const text = await commandLineReference();
    expect(page('command-line')).toBe(text);
    for (const name of ['config', 'export', 'import', 'rebuild', 'user'])
      expect(text).toContain(`<a id="sluice-${name}">`);
  }, 180_000);
});
