import { describe, expect, it } from '@jest/globals';
import { bundleHere } from '../testing/bundle.js';
import { MAX_MAP_BYTES, splitBundle, withSourceMap } from '../protocol/source-map.js';
import { type BundleInput } from './component-files.js';
import { boundedMap } from './source-map.js';

interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
  readonly names: readonly string[];
}

const partsOf = async (input: BundleInput): Promise<{ code: string; map: SourceMap; bytes: number }> => {
  const { code, map } = splitBundle(Buffer.from(await bundleHere(input)));
  if (!map) throw new Error('the bundle has no map');
  return { code, map: JSON.parse(map.toString('utf8')) as SourceMap, bytes: map.length };
};
const inlineMap = (map: unknown): string =>
  `//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;

describe('the source map of a bundle', () => {
  it('names the uploaded files, and holds neither their text nor names', async () => {
    const { code, map } = await partsOf({
      code: `import './a.ts'; import '@pipedream/platform'; export default { name: 'secret text' }`,
      fileName: 'src/main.mjs',
      files: { 'src/a.ts': 'const secret: number = 1; console.log(secret)' },
    });
    expect(map.sources).toEqual(
      expect.arrayContaining(['component:src/main.mjs', 'component:src/a.ts', 'shim:platform']),
    );
    expect(map).not.toHaveProperty('sourcesContent');
    expect(map.names).toEqual([]);
    expect(code).not.toContain('sluice-source-map');
  });

  it.each([
    [
      'an inline map',
      inlineMap({ version: 3, sources: ['forged.ts'], mappings: 'AAAA;AAAA;AAAA;AAAA;AAAA;AAAA;AAAA' }),
    ],
    ['a map that is no JSON', '//# sourceMappingURL=data:application/json,{'],
    ['a file of the host', '//# sourceMappingURL=/etc/passwd'],
    ['a file beside it', '//@ sourceMappingURL=a.ts.map'],
    ['a comment in the middle', `/*# sourceMappingURL=${inlineMap({}).slice(21)} */`],
  ])('is that of the uploaded text, whatever the file names: %s', async (_what, comment) => {
    const code = (last: string): string => `export default { name: 'n' };\n\n\nconsole.log(1);\n${last}\n`;
    const plain = await partsOf({ code: code('') });
    expect((await partsOf({ code: code(comment) })).map).toEqual(plain.map);
  });

  it('lets no comment of the component pose as the map', async () => {
    const forged = withSourceMap(Buffer.from(''), '{"forged":1}').toString('utf8').trim();
    const { map } = await partsOf({
      code: `export default { name: 'n' };\n${forged.replace('//#', '//!')}\n//! ${forged}\n`,
    });
    expect(map).not.toHaveProperty('forged');
  });

  it('is left out when even one position a line is too much', () => {
    const text = `{"version":3,"sources":["component:a.js"],"mappings":"${'AAAA;'.repeat(MAX_MAP_BYTES)}"}`;
    expect(boundedMap(text.replace(/;+/g, ';'))).toBeUndefined();
  });

  it('keeps one position a line when all of them are too many', () => {
    const line = 'AAAA' + ',CAAC'.repeat(1_000);
    const text = JSON.stringify({ version: 3, sources: ['component:a.js'], mappings: `${line};`.repeat(400) });
    const short = boundedMap(text) ?? '';
    expect(text.length).toBeGreaterThan(MAX_MAP_BYTES);
    expect(Buffer.byteLength(short)).toBeLessThan(20_000);
    expect((JSON.parse(short) as SourceMap).mappings.split(';')).toHaveLength(401);
  });

  it('of a file whose name holds line separators is still one comment', async () => {
    const bundle = await bundleHere({
      code: `import './a\\u2028b.mjs'; export default { name: 'n' }`,
      files: { 'a\u2028b.mjs': 'console.log(1)' },
    });
    expect(bundle.split(/[\n\u2028\u2029]/).filter((line) => line.includes('sluice-source-map'))).toHaveLength(1);
    expect(splitBundle(Buffer.from(bundle)).map?.toString()).toContain('\\u2028');
  });
});

describe('splitting a bundle', () => {
  it('returns code and map as they were', () => {
    const { code, map } = splitBundle(withSourceMap(Buffer.from('"é"'), '{"a":"é"}'));
    expect([code, map?.toString('utf8')]).toEqual(['"é"', '{"a":"é"}']);
  });

  it.each([
    '',
    'x',
    'code();\n',
    'code();\n//! 00000005\n',
    'code();\n//# sluice-source-map {} 99999999\n',
    'code();\n//# sluice-source-map {} 00000001\n',
    ' 00000000\n',
  ])('takes %j for code without a map', (text) => {
    expect(splitBundle(Buffer.from(text))).toEqual({ code: text, map: undefined });
  });

  it('cuts off a map over the limit unread', () => {
    const bundle = withSourceMap(Buffer.from('code()'), ' '.repeat(MAX_MAP_BYTES + 1));
    expect(splitBundle(bundle)).toEqual({ code: 'code()', map: undefined });
  });
});
