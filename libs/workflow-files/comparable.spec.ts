import { describe, expect, it } from '@jest/globals';
import { type JsonObject } from '#libs/workflows/domain/check-shape.js';
import { plainDefinition } from '#libs/workflows/domain/plain-definition.js';
import { comparable } from './comparable.js';

/** What a server shows after a PUT of the definition. */
const shown = (definition: JsonObject): JsonObject => ({
  name: definition['name'] ?? 'orders',
  ...(definition['description'] === undefined ? {} : { description: definition['description'] }),
  external_id: 'orders',
  ...plainDefinition(definition, () => true),
});
const onServer = (definition: JsonObject, active = true) => ({ id: 'p_1', active, definition });
const compare = (definition: JsonObject, there?: ReturnType<typeof onServer>) =>
  comparable({ definition, externalId: 'orders' }, there);

const DEFINITION = {
  steps: [{ props: { b: 1, a: { d: 1, c: [{ f: 1, e: 2 }] } }, disabled: false, namespace: 'x', uses: './x/entry.js' }],
  settings: { active: true, queue_size: 100, timeout_seconds: 9 },
  triggers: [{ type: 'http', auth: { token: 'secret-token', type: 'bearer' } }],
  description: 'About orders',
  files: { 'y.js': 'y', 'x/entry.js': 'x' },
};

describe('the comparison of a workflow in a folder and on a server', () => {
  it('finds nothing after the workflow was sent, whatever the order of its keys, defaults and secrets', () => {
    const { triggers: _, ...sent } = shown(DEFINITION);
    const masked = { ...sent, triggers: [{ type: 'http', auth: { type: 'bearer', token: '********' } }] };
    const { here, there } = compare(DEFINITION, onServer(masked));
    expect(here).toBe(there);
    expect(here).toBe(`name: orders
description: About orders
external_id: orders
settings:
  timeout_seconds: 9
triggers:
  - type: http
    auth:
      type: bearer
      token: "********"
steps:
  - namespace: x
    uses: "./x/entry.js"
    props:
      a:
        c:
          - e: 2
            f: 1
        d: 1
      b: 1
files:
  x/entry.js: x
  y.js: "y"
`);
  });

  it('keeps a name and an external id that the definition lacks, and no description', () => {
    const there = onServer({ ...shown({ steps: [], description: 'Old' }), name: 'Renamed', external_id: 'other' });
    expect(compare({ steps: [] }, there).here).toBe('name: Renamed\nexternal_id: other\nsteps: []\n');
    expect(compare({ steps: [], name: 'New', external_id: 'b' }, there).here).toBe(
      'name: New\nexternal_id: b\nsteps: []\n',
    );
  });

  it('has nothing of a workflow that the server lacks', () =>
    expect(compare({ steps: [] })).toEqual({ here: 'name: orders\nexternal_id: orders\nsteps: []\n', there: '' }));

  it('shows the activity where a definition changes it', () => {
    const inactive = { steps: [], settings: { active: false } };
    const { here, there } = compare(inactive, onServer(shown(inactive)));
    expect(here).toContain('settings:\n  active: false\nsteps');
    expect(there).toContain('settings:\n  active: true\nsteps');
    const same = compare(inactive, onServer(shown(inactive), false));
    expect(same.here).toBe(same.there);
    expect(compare({ steps: [] }, onServer(shown({ steps: [] }), false)).here).not.toContain('active');
  });

  it('prints no token, also of a new workflow', () => {
    const http = (token: string): JsonObject => ({ type: 'http', auth: { type: 'bearer', token } });
    const { here } = compare({ triggers: [http('secret-token'), http('{{process.env.TOKEN}}')], steps: [] });
    expect(here).not.toContain('secret');
    expect(here).toContain('token: "********"');
    expect(here).toContain('token: "{{process.env.TOKEN}}"');
  });

  it('masks only what the server masks at the same place', () => {
    const step = (value: unknown): JsonObject => ({ steps: [{ namespace: 'x', uses: 'k', props: { a: [value] } }] });
    expect(compare(step('s'), onServer(shown(step('********')))).here).not.toContain('- s');
    expect(compare(step('s'), onServer(shown(step('t')))).here).toContain('- s');
    expect(compare(step(5), onServer(shown(step('********')))).here).toContain('- 5');
  });
});
