import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '#test/harness/paths.js';
import { loadAreas } from './areas.js';
import { compatibilityMatrix, componentModel, rulesOf } from './compatibility-matrix.js';
import { NOT_SHOWN, SHOWN_ELSEWHERE } from './shown-elsewhere.js';
import { WORKFLOW_MEMBERS } from './workflow-members.js';

const areas = await loadAreas();
const cases = areas.flatMap((area) => area.cases);
const page = componentModel();
const anchors = [...page.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id as string);
const shown = new Set<string>(cases.flatMap((one) => one.shows));
const folder = path.join(ROOT, 'test/components');
const isComponent = (file: string): boolean => file.includes(path.sep) && /\.(mjs|cjs|js|ts)$/.test(file);

describe('docs/reference/compatibility-matrix.md', () => {
  it('is what the cases say (fix: npm run build && npm run docs:reference)', async () => {
    const file = path.join(ROOT, 'docs/reference/compatibility-matrix.md');
    expect(readFileSync(file, 'utf8')).toBe(await compatibilityMatrix());
  });

  it('has a row for every rule of the component model', () => {
    expect(rulesOf(page).map(({ id }) => id)).toEqual(anchors);
  });
});

describe('the cases of test/components', () => {
  it('show rules that exist', () => {
    expect([...shown].filter((id) => !anchors.includes(id))).toEqual([]);
  });

  it('show every rule that no other test shows', () => {
    const unshown = anchors.filter((id) => !shown.has(id) && !(id in SHOWN_ELSEWHERE) && !(id in NOT_SHOWN));
    expect(unshown).toEqual([]);
  });

  it('run at least 60 components, and every one that lies there', () => {
    const named = new Set(cases.map(({ component }) => component));
    expect(named.size).toBeGreaterThanOrEqual(60);
    const missing = [...named].filter((component) => !existsSync(path.join(folder, component)));
    // A folder within an area is one component, whose entry a case names.
    const unitOf = (file: string): string => file.split(path.sep).slice(0, 2).join('/');
    const units = new Set([...named].map(unitOf));
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isComponent);
    expect({ missing, unused: files.filter((file) => !units.has(unitOf(file))) }).toEqual({ missing: [], unused: [] });
  });

  it('lie in the folder of their area', () => {
    const elsewhere = areas.flatMap(({ area, cases: own }) =>
      own.filter(({ component }) => !component.startsWith(`${area}/`)).map(({ component }) => component),
    );
    expect(elsewhere).toEqual([]);
  });

  it('each expect something', () => {
    expect(cases.filter(({ then }) => Object.keys(then).length === 0)).toEqual([]);
  });
});

describe('the members of workflows', () => {
  const rules = readFileSync(path.join(ROOT, 'docs/reference/workflows.md'), 'utf8');

  it.each(Object.values(WORKFLOW_MEMBERS).flat())('$name has a rule and a test', ({ rule, test: [file, title] }) => {
    if (rule !== '') expect(rules).toContain(`<a id="${rule}"></a>`);
    expect(readFileSync(path.join(ROOT, file), 'utf8')).toContain(title);
  });

  it('are each there once', () => {
    const names = Object.values(WORKFLOW_MEMBERS).flatMap((members) => members.map(({ name }) => name));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });
});

describe('the rules that other tests show', () => {
  it.each(Object.entries(SHOWN_ELSEWHERE))('%s', (id, [file, title]) => {
    expect(anchors).toContain(id);
    expect(readFileSync(path.join(ROOT, file), 'utf8')).toContain(title);
  });

  it('are only those that no component shows', () => {
    const listed = [...Object.keys(SHOWN_ELSEWHERE), ...Object.keys(NOT_SHOWN)];
    expect(listed.filter((id) => shown.has(id) || !anchors.includes(id))).toEqual([]);
    expect(Object.keys(NOT_SHOWN).filter((id) => id in SHOWN_ELSEWHERE)).toEqual([]);
  });
});
