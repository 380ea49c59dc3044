import { runInThisContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { type ComponentObject } from './component.js';
import { describeComponent } from './describe.js';
import { InvalidComponent } from './invalid-component.js';

const base: ComponentObject = { name: 'n', version: '1', run: () => undefined };
const props = (given: Record<string, unknown>, more: Partial<ComponentObject> = {}) =>
  describeComponent({ ...base, ...more, props: given }).configurableProps;

const failing = (component: unknown): InvalidComponent => {
  try {
    describeComponent(component as ComponentObject);
  } catch (error) {
    if (error instanceof InvalidComponent) return error;
    throw error;
  }
  throw new Error('it was accepted');
};

describe('warnings about what is never called', () => {
  const warnings = (more: Record<string, unknown>) => describeComponent({ ...base, ...more }).warnings;
  const http = { http: '$.interface.http' };

  it.each(['deploy', 'activate', 'deactivate'])('name the hook %s that stands beside run', (hook) => {
    expect(warnings({ props: http, [hook]: () => 1 })).toEqual([
      {
        code: 'misplaced_hook',
        path: hook,
        message: `"${hook}" is a hook: move it into hooks: { ${hook}() { … } }; it is never called there`,
      },
    ]);
  });

  it('leave out a hook that hooks has too, a value, a method and an action', () => {
    expect(warnings({ props: http, activate: () => 1, hooks: { activate: () => 1 } })).toEqual([]);
    expect(warnings({ props: http, activate: true, load: () => 1 })).toEqual([]);
    expect(warnings({ type: 'action', activate: () => 1 })).toEqual([]);
  });
});

describe('warnings about code', () => {
  const http = { http: '$.interface.http' };
  const warnings = (more: Record<string, unknown>) => describeComponent({ ...base, props: http, ...more }).warnings;
  const codes = (more: Record<string, unknown>) => warnings(more).map(({ code, path }) => [code, path]);
  /** As the bundler leaves a function of a module. */
  const written = (text: string): unknown => runInThisContext(`(${text})`);

  it('name an arrow function as run that uses this', () => {
    for (const text of ['() => this.$emit(1)', 'async (event) => (void 0).$emit(event)', 'e => { (void 0)?.$emit(e) }'])
      expect(codes({ run: written(text) })).toEqual([['arrow_run', 'run']]);
    for (const text of ['function (event) { this.$emit(event) }', '() => 1', '(event) => event.then((x) => x)'])
      expect(codes({ run: written(text) })).toEqual([]);
    expect(codes({ run() {} })).toEqual([]);
  });

  it('name the variables that code reads and components lack, in run, hooks and methods', () => {
    const found = warnings({
      run: written('function () { return process.env.API_KEY + process.env["REGION"] + process.env.API_KEY }'),
      hooks: { deploy: written('function () { return process.env.HOOK_URL }') },
      methods: { base: written('function () { return process.env.BASE_URL }') },
    });
    expect(found.map(({ path, message }) => [path, message.split(' ', 1)[0]])).toEqual([
      ['run', 'process.env.API_KEY'],
      ['run', 'process.env.REGION'],
      ['hooks.deploy', 'process.env.HOOK_URL'],
      ['methods.base', 'process.env.BASE_URL'],
    ]);
    const fine =
      'function () { process.env.A = 1; return [process.env.B ?? 1, process.env.C || 2, process.env.PD_COMPONENT] }';
    expect(codes({ run: written(fine) })).toEqual([]);
  });

  it('name a timer of a source without run', () => {
    const timer = { timer: '$.interface.timer' };
    expect(codes({ run: undefined, props: timer })).toEqual([['timer_without_run', 'props.timer']]);
    expect(codes({ props: timer })).toEqual([]);
    expect(codes({ run: undefined })).toEqual([]);
  });
});

describe('metadata of a component', () => {
  it('keeps declaration order and expands shorthand', () => {
    expect(props({ z: '$.service.db', http: '$.interface.http', a: { type: 'string' } })).toEqual([
      { name: 'z', type: '$.service.db' },
      { name: 'http', type: '$.interface.http' },
      { name: 'a', type: 'string' },
    ]);
  });

  it.each([
    ['$.interface.timer', {}, 20],
    ['$.interface.http', {}, 20],
    ['$.interface.apphook', {}, 5],
    ['string', { secret: true }, 50],
  ])('allows only so many props of type %s with %j', (type, more, limit) => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, { type, ...more }]));
    expect(props(many(limit))).toHaveLength(limit);
    const error = failing({ ...base, props: many(limit + 2) });
    expect(error.message).toContain(`there are ${limit + 2} `);
    expect(error.message).toContain(`at most ${limit} are allowed`);
    expect(error.prop).toBe(`p${limit}`);
  });

  it('outputs the keys that were set, and no others', () => {
    const set = {
      type: 'string[]',
      label: 'L',
      description: 'D',
      optional: true,
      default: ['x'],
      options: ['x', 5, { label: 'Y', value: { deep: 1 } }, { value: 7 }, { label: 'Z', value: undefined }],
      secret: false,
      disabled: true,
      hidden: true,
      readOnly: true,
      useQuery: true,
      reloadProps: true,
      withLabel: true,
    };
    expect(props({ p: { ...set, unknown: 1, format: () => 1 } })).toEqual([
      {
        name: 'p',
        ...set,
        options: ['x', 5, { label: 'Y', value: { deep: 1 } }, { label: '7', value: 7 }, { label: 'Z', value: null }],
      },
    ]);
  });

  it('leaves functions out, and marks options as remote', () => {
    expect(props({ p: { type: 'string', options: () => [], default: () => 1 } })).toEqual([
      { name: 'p', type: 'string', remoteOptions: true },
    ]);
  });

  it('describes timers, apps, alerts and integers', () => {
    const app = { type: 'app', app: 'github', methods: { f: () => 1 }, propDefinitions: {} };
    expect(
      props({
        t: { type: '$.interface.timer', default: { intervalSeconds: 60 }, static: { cron: '0 * * * *' } },
        h: { type: '$.interface.http', customResponse: true },
        app,
        namespace: { default: app },
        note: { type: 'alert', content: 'C' },
        n: { type: 'integer', min: 1, max: 5, default: 0 },
      }),
    ).toEqual([
      { name: 't', type: '$.interface.timer', default: { intervalSeconds: 60 }, static: { cron: '0 * * * *' } },
      { name: 'h', type: '$.interface.http', customResponse: true },
      { name: 'app', type: 'app', app: 'github' },
      { name: 'namespace', type: 'app', app: 'github' },
      { name: 'note', type: 'alert', content: 'C', alertType: 'info' },
      { name: 'n', type: 'integer', min: 1, max: 5, default: 0 },
    ]);
  });

  it('resolves propDefinition, with local keys on top', () => {
    const app: Record<string, unknown> = { type: 'app', app: 'a' };
    app.propDefinitions = {
      repo: { type: 'string', label: 'Repo', description: 'old', options: () => [] },
      again: { propDefinition: [app, 'repo'], label: 'Again' },
      short: 'boolean',
    };
    expect(
      props({
        one: { propDefinition: [app, 'repo', () => ({})], description: 'new', optional: true },
        two: { propDefinition: [app, 'again'] },
        three: { propDefinition: [app, 'short'] },
      }),
    ).toEqual([
      { name: 'one', type: 'string', label: 'Repo', description: 'new', optional: true, remoteOptions: true },
      { name: 'two', type: 'string', label: 'Again', description: 'old', remoteOptions: true },
      { name: 'three', type: 'boolean' },
    ]);
  });

  it('refuses an endless chain of propDefinition', () => {
    const app: Record<string, unknown> = { type: 'app', app: 'a' };
    app.propDefinitions = { loop: { propDefinition: [app, 'loop'] } };
    expect(failing({ ...base, props: { p: { propDefinition: [app, 'loop'] } } })).toMatchObject({
      prop: 'p',
      message: expect.stringContaining('more than 10'),
    });
  });

  it.each([
    [
      { p: { propDefinition: [{ app: 'a', propDefinitions: { x: {} } }, 'y'] } },
      /app "a" has no propDefinition "y"; it has x/,
    ],
    [{ p: { propDefinition: [{}, 'y'] } }, /must be an app with propDefinitions/],
    [{ p: { propDefinition: 'y' } }, /must be an array/],
    [{ p: { type: '$.nothing' } }, /^\$\.nothing not supported for prop p; allowed are /],
    [{ p: { type: 'object[]' } }, /^object\[\] not supported for prop p; write object,/],
    [{ p: { type: '$.interface.http[]' } }, /not supported for prop p/],
    [{ p: {} }, /type is missing/],
    [{ p: 5 }, /must be an object or the name of a type, not number/],
    [{ p: null }, /not null/],
    [{ p: { type: 'string', options: { a: 1 } } }, /options of type object not supported for prop p/],
    [{ p: { type: 'string', options: [{}] } }, /an option must be/],
    [{ p: { type: 'app' } }, /app is missing/],
    [{ p: { type: 'integer', default: 1n } }, /default cannot be written as JSON/],
  ])('refuses props %#, naming the prop', (given, message) => {
    const error = failing({ ...base, props: given });
    expect(error.message).toMatch(message);
    expect(error.prop).toBe('p');
  });

  it('refuses interfaces in an action, which a source may have', () => {
    for (const type of ['$.interface.http', '$.interface.timer']) {
      expect(failing({ ...base, type: 'action', props: { p: type } }).prop).toBe('p');
      expect(props({ p: type })).toHaveLength(1);
    }
    expect(
      props({ a: 'any', d: 'data_store', h: 'http_request', c: '$.discord.channel[]', x: '$.airtable.baseId' }),
    ).toHaveLength(5);
  });

  it('needs a name, and run or an interface whose events pass through', () => {
    expect(failing({ type: 'action', run: () => 1 }).message).toMatch(/name is missing/);
    expect(failing({ nmae: 'n', run: () => 1 }).message).toMatch(/name is missing: "nmae" is not a key/);
    expect(describeComponent({ key: 'k', run: () => 1 }).name).toBe('k');
    // The server names it after its file.
    expect(describeComponent({ run: () => 1 }).name).toBe('');
    expect(failing({ name: 'n' }).message).toMatch(/run is missing, and there is no interface/);
    expect(failing({ name: 'n', type: 'action' }).message).toMatch(/an action needs the method run/);
    expect(describeComponent({ name: 'n', props: { t: '$.interface.timer' } })).toMatchObject({ hasRun: false });
    expect(describeComponent({ name: 'n', additionalProps: () => ({}) })).toMatchObject({ hasAdditionalProps: true });
  });

  it('is lenient about version, key and unknown fields', () => {
    expect(
      describeComponent({ ...base, version: undefined, extra: 1, annotations: { readOnlyHint: true } }),
    ).toMatchObject({
      kind: 'source',
      version: '',
      key: null,
      description: null,
      annotations: { readOnlyHint: true },
    });
    expect(describeComponent({ type: 'app', app: 'slack', methods: {} })).toMatchObject({ kind: 'app', name: 'slack' });
    expect(failing({ ...base, type: 'thing' }).message).toMatch(/type must be/);
  });

  it('lists hooks in the order in which they run, and refuses an unknown dedupe', () => {
    const hooks = { deactivate: () => 1, other: () => 1, deploy: () => 1, activate: undefined };
    const metadata = describeComponent({ ...base, hooks, dedupe: 'greatest', methods: { a: () => 1, b: 2 } });
    expect(metadata).toMatchObject({ hooks: ['deploy', 'deactivate'], dedupe: 'greatest', methods: ['a'] });
    expect(metadata.warnings.map(({ message }) => message).join()).toContain('"other" is never called');
    expect(failing({ ...base, dedupe: 'some' }).message).toMatch(/"unique", "greatest" or "last", not "some"/);
  });

  it('warns about accepted but probably unintended definitions', () => {
    const metadata = describeComponent({
      ...base,
      props: { both: 'string', odd: 'rainbow', s: { type: 'integer', secret: true } },
      methods: { both: () => 1 },
    });
    expect(metadata.configurableProps[1]).toEqual({ name: 'odd', type: 'any' });
    expect(metadata.warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('"rainbow" is unknown'),
      expect.stringContaining('secret is for type string'),
      expect.stringContaining('a prop and a method'),
      expect.stringContaining('no prop is an interface'),
    ]);
  });
});

describe('the code of a step', () => {
  const step = (component: ComponentObject) => describeComponent(component, 'step');
  const run = (): string | undefined => process.env['API_KEY'];

  it('is an action without type, key and name, whose process has the variables of the workspace', () => {
    expect(step({ run, props: { url: 'string' } })).toMatchObject({
      kind: 'action',
      name: 'step',
      key: null,
      hasRun: true,
      configurableProps: [{ name: 'url', type: 'string' }],
      warnings: [],
    });
    expect(step({ type: 'action', name: 'n', key: 'k', run })).toMatchObject({ kind: 'action', name: 'n', key: 'k' });
  });

  it.each([
    [{ type: 'source', run }, 'the code of a step must be an action, not of type "source": leave type out'],
    [{ type: 'app', app: 'slack' }, 'the code of a step must be an action, not of type "app": leave type out'],
    [{ props: {} }, 'run is missing: an action needs the method run'],
    [{ props: { http: '$.interface.http' }, run }, 'in an action, $.interface.http is not supported for prop http'],
  ])('%j is refused', (component, message) => {
    expect(() => step(component as ComponentObject)).toThrow(message);
  });
});
