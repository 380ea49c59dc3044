import { describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ComponentMetadata, type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { parseMetadata } from '#libs/sandbox/index.js';
import {
  type FieldRule,
  METADATA_FIELDS,
  METADATA_LIMITS,
  PROP_FIELDS,
} from '#libs/component-model/metadata-fields.js';
import { boundedMetadata } from './metadata-limits.js';

const metadata = (over: Partial<ComponentMetadata> = {}): ComponentMetadata => ({
  kind: 'source',
  name: 'Hello',
  key: null,
  version: '0.0.1',
  description: null,
  annotations: null,
  dedupe: null,
  hooks: [],
  hasRun: true,
  hasAdditionalProps: false,
  methods: [],
  configurableProps: [],
  warnings: [],
  ...over,
});

/** Refusal of metadata from the child process. The structural check there accepts all of these cases. */
const refusal = (over: Partial<ComponentMetadata>): DomainError => {
  const fromChild = parseMetadata(Buffer.from(JSON.stringify(metadata(over))));
  try {
    boundedMetadata(fromChild);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

const prop = (over: Partial<ConfigurableProp> = {}): ConfigurableProp => ({ name: 'url', type: 'string', ...over });
const text = (bytes: number): string => 'ü'.repeat(bytes / 2);

describe('metadata of a component', () => {
  it('is accepted up to its limits, in bytes', () => {
    const most = metadata({
      name: text(1_024),
      key: text(1_024),
      version: text(1_024),
      description: text(16_384),
      annotations: { note: 'x'.repeat(1_024 - '{"note":""}'.length) },
      configurableProps: [prop({ name: text(256), label: text(1_024), description: text(16_384) })],
    });
    expect(boundedMetadata(most)).toEqual(most);
  });

  it.each<[string, Partial<ComponentMetadata>, number, number]>([
    ['name', { name: `${text(1_024)}x` }, 1_024, 1_025],
    ['key', { key: `${text(1_024)}x` }, 1_024, 1_025],
    ['version', { version: `${text(1_024)}x` }, 1_024, 1_025],
    ['description', { description: `${text(16_384)}x` }, 16_384, 16_385],
    ['annotations', { annotations: { note: 'x'.repeat(1_024) } }, 1_024, 1_035],
    ['props', { configurableProps: Array.from({ length: 1_001 }, (_, n) => prop({ name: `p${n}` })) }, 1_000, 1_001],
    ['the name of a prop', { configurableProps: [prop({ name: 'x'.repeat(257) })] }, 256, 257],
    ['methods', { methods: Array.from({ length: 1_001 }, (_, n) => `m${n}`) }, 1_000, 1_001],
    ['methods[1]', { methods: ['run', 'm'.repeat(257)] }, 256, 257],
    [
      'default of prop "url"',
      { configurableProps: [prop({ default: { cron: '1,'.repeat(40_000) } })] },
      65_536,
      80_011,
    ],
    ['static of prop "url"', { configurableProps: [prop({ static: { cron: '1,'.repeat(1_000) } })] }, 1_024, 2_011],
    [
      'options of prop "url"',
      { configurableProps: [prop({ options: Array<number>(10_001).fill(1) })] },
      10_000,
      10_001,
    ],
    ['options of prop "url"[1]', { configurableProps: [prop({ options: ['a', 'b'.repeat(4_096)] })] }, 4_096, 4_098],
    [
      'eventNames of prop "url"',
      { configurableProps: [prop({ eventNames: Array<string>(1_001).fill('a') })] },
      1_000,
      1_001,
    ],
    ['label of prop "url"', { configurableProps: [prop({ label: 'x'.repeat(1_025) })] }, 1_024, 1_025],
  ])('%s is refused above its limit, with both figures', (field, over, limit, actual) => {
    const error = refusal(over);
    expect(error).toMatchObject({ code: 'component.invalid', details: { field, limit, actual } });
    expect(error.message).toContain(`${field}: ${actual}`);
  });

  it('has a limit for each field that is not a flag, a number or a word of a list', () => {
    const limitsOf = (field: string, rule: FieldRule): (readonly [string, number])[] => {
      if (!('max' in rule)) return [];
      const inner = rule.kind === 'list' && typeof rule.of !== 'string' ? limitsOf(`${field}[]`, rule.of) : [];
      return [[field, rule.max], ...inner];
    };
    const limits = Object.entries({ ...METADATA_FIELDS, ...PROP_FIELDS }).flatMap(([name, rule]) =>
      limitsOf(name, rule),
    );
    expect(limits.length).toBeGreaterThan(20);
    for (const [field, max] of limits) {
      expect([field, max]).toEqual([field, expect.any(Number)]);
      expect(max).toBeLessThanOrEqual(METADATA_LIMITS.total);
    }
  });

  it('is bounded in total', () => {
    const configurableProps = Array.from({ length: 900 }, (_, n) => prop({ name: `p${n}`, label: 'x'.repeat(1_000) }));
    expect(refusal({ configurableProps }).details).toMatchObject({ limit: METADATA_LIMITS.total });
  });

  it('has bounded warnings, which do not count towards the total', () => {
    const warning = { code: 'misspelt_key', message: 'm'.repeat(1_000), path: 'p'.repeat(300) };
    const parsed = (warnings: readonly unknown[]) =>
      parseMetadata(Buffer.from(JSON.stringify(metadata({ warnings: warnings as ComponentMetadata['warnings'] }))));
    const most = Array.from({ length: 100 }, () => warning);
    const props = Array.from({ length: 480 }, (_, n) => prop({ name: `p${n}`, label: 'x'.repeat(1_000) }));
    expect(boundedMetadata({ ...parsed(most), configurableProps: props }).warnings).toEqual(most);
    for (const wrong of [
      [...most, warning],
      ['a text'],
      [{ ...warning, more: 1 }],
      [{ code: 'misspelt_key', path: '' }],
      [{ ...warning, code: 'Not A Word' }],
      [{ ...warning, message: 'm'.repeat(1_001) }],
      [{ ...warning, path: 'p'.repeat(301) }],
      [{ ...warning, path: 'a\0b' }],
    ])
      expect(() => parsed(wrong)).toThrow('malformed metadata');
  });

  it('has no NUL in its texts, and no half of a surrogate pair anywhere', () => {
    for (const over of [
      { name: 'a\0' },
      { key: '\0' },
      { version: '\0' },
      { configurableProps: [prop({ name: 'a\0' })] },
    ])
      expect(refusal(over).message).toContain('NUL');
    const bounded = boundedMetadata(
      metadata({
        name: 'a\ud800',
        annotations: { '\udc00': ['\ud800'] },
        configurableProps: [prop({ name: '\ud83d', default: { text: '\ude00' } })],
      }),
    );
    expect(JSON.stringify(bounded)).not.toMatch(/\\ud[89a-f]/);
    expect(bounded.annotations).toEqual({ '\ufffd': ['\ufffd'] });
  });

  it('accepts every prop name except reserved ones', () => {
    const names = ['constructor', 'toString', 'run', 'hooks', 'hasOwnProperty', 'prototype', 'then'];
    const kept = boundedMetadata(metadata({ configurableProps: names.map((name) => prop({ name })) }));
    expect(kept.configurableProps.map(({ name }) => name)).toEqual(names);
    for (const name of ['__proto__', '$emit', '']) {
      expect(refusal({ configurableProps: [prop({ name })] })).toMatchObject({
        code: 'component.invalid',
        details: { prop: name },
      });
    }
  });

  it('keeps __proto__ as a key of annotations and defaults', () => {
    const annotations = JSON.parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>;
    const bounded = boundedMetadata(metadata({ annotations }));
    expect(JSON.stringify(bounded.annotations)).toBe('{"__proto__":{"polluted":true}}');
    expect(Object.getPrototypeOf(bounded.annotations)).toBe(Object.prototype);
  });
});
