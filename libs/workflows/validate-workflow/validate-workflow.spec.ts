import { describe, expect, it } from '@jest/globals';
import { type ComponentCatalog, type ComponentReference, type ResolvedComponent } from '#libs/components/published.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type PropFault } from '#libs/sources/published.js';
import { DefinitionChecks, type GivenDefinition } from '../definition-checks.js';
import { CHANGES } from '../domain/changes.js';
import { WORKFLOW_LIMITS } from '../limits.js';
import { type DefinitionReader, type TriggerReferences } from '../ports.js';
import { ValidateWorkflow, ValidateWorkflowHandler } from './validate-workflow.handler.js';

const CONTEXT = { workspaceId: 'o_a', actor: { userId: 'u_a', apiKeyId: 'key_a' } } as CommandContext;

const component = (kind: 'source' | 'action', more: Partial<ResolvedComponent> = {}): ResolvedComponent => ({
  id: 'sc_a',
  key: 'post',
  name: 'Post',
  kind,
  bundleHash: 'h',
  configurableProps: [
    { name: 'github', type: 'app', app: 'github' },
    { name: 'url', type: 'string' },
    { name: 'count', type: 'integer' },
  ],
  hooks: [],
  dedupe: null,
  version: '1.0.0',
  description: null,
  codeHash: 'c',
  keep: () => Promise.resolve(),
  release: () => Promise.resolve(),
  ...more,
});

interface World {
  readonly components?: Readonly<Record<string, ResolvedComponent>>;
  readonly faults?: readonly PropFault[];
  readonly reader?: Partial<DefinitionReader>;
}

/** Handler over ports that tell what they were asked. */
const worldOf = ({
  components = { post: component('action'), poll: component('source') },
  faults = [],
  reader,
}: World) => {
  const asked = { references: [] as ComponentReference[], props: [] as unknown[], texts: [] as unknown[] };
  const catalog: ComponentCatalog = {
    resolve: async (reference) => {
      asked.references.push(reference);
      const found = components[reference.key ?? reference.componentId ?? ''];
      if (!found) throw new DomainError('component.not_found', 'not found');
      return found;
    },
  };
  const references: TriggerReferences = {
    isSource: (id) => id === 'dc_known',
    isVariable: () => false,
    emissionFaults: ({ emitterId, eventName }) => [
      ...(emitterId === 'dc_known' ? [] : [new DomainError('emitter.not_found', 'no', { field: 'emitter_id' })]),
      ...(eventName === 'bad' ? [new DomainError('subscription.invalid_channel', 'no', { field: 'event_name' })] : []),
    ],
  };
  const checks = new DefinitionChecks(
    catalog,
    {
      check: (props, given) => {
        asked.props.push({ props: props.map(({ name }) => name), given });
        const isTimer = props[0]?.name === 'timer';
        const { cron, timezone } = (given['timer'] ?? {}) as { cron?: string; timezone?: string };
        const wrong = isTimer && (cron === 'wrong' || timezone === 'Nowhere');
        if (isTimer)
          return { faults: wrong ? [{ prop: 'timer', kind: 'type', message: 'no timer' }] : [], warnings: [] };
        return { faults, warnings: [{ code: 'unknown_prop', message: 'm', path: 'configured_props.ulr' }] };
      },
    },
    {
      readYaml: async () => ({ kind: 'value', json: '{}' }),
      locate: async (_text, paths) => paths.map((_, i) => [i + 1, 2] as const),
      parse: async (texts) => {
        asked.texts.push(...texts);
        return texts.flatMap(([, text], i) => (text.includes('steps. ') ? [[i, 'Unexpected token', 10] as const] : []));
      },
      ...reader,
    },
    references,
    { ...WORKFLOW_LIMITS, workflowMemoryMb: 300 },
  );
  const handler = new ValidateWorkflowHandler(checks);
  const validate = (given: GivenDefinition, strict = false) =>
    handler.execute(new ValidateWorkflow(given, strict, CONTEXT));
  const faultsOf = async (given: GivenDefinition, strict = false): Promise<unknown> => {
    const error: unknown = await validate(given, strict).then(
      () => 'valid',
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof DomainError)) throw new Error(String(error));
    if (error.code !== 'workflow.invalid_definition') return error.code;
    return (error.details?.['errors'] as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`);
  };
  return { validate, faultsOf, asked, checks };
};

const json = (steps: readonly object[], more: object = {}): GivenDefinition => ({
  json: { name: 'w', steps, ...more },
});
const action = (props: object, more: object = {}): object => ({ namespace: 'a', uses: 'post@^1.0.0', props, ...more });

describe('the memory of a workflow', () => {
  it('has the limit of the server, which the error names, in a definition and in a change', async () => {
    const { validate, checks } = worldOf({});
    const settings = { memory_mb: 301 };
    const message = 'must be 64 to 300 (SLUICE_WORKFLOW_MEMORY_MB of the server); got 301';
    const refused = { details: { errors: [{ path: 'settings.memory_mb', code: 'range', message }] } };
    await expect(validate(json([], { settings }))).rejects.toMatchObject(refused);
    await expect(checks.checkAs(CHANGES, { json: { settings } }, { settings }, false)).rejects.toMatchObject(refused);
    await validate(json([], { settings: { memory_mb: 300 } }));
  });
});

describe('the components of a definition', () => {
  it('are looked for once for each text, by key and version', async () => {
    const { validate, asked } = worldOf({});
    await validate(json([action({}), action({}, { namespace: 'b' }), { namespace: 'c', uses: '@team/post' }]));
    expect(asked.references).toEqual([
      { key: 'post', version: '^1.0.0', ownOnly: false },
      { key: 'post', ownOnly: true },
    ]);
  });

  it.each([
    ['unknown', [{ namespace: 'a', uses: 'no-such@1.0.0' }], {}, 'steps[0].uses unresolved'],
    ['a source in a step', [{ namespace: 'a', uses: 'poll' }], {}, 'steps[0].uses unresolved'],
    ['an action in a trigger', [], { triggers: [{ type: 'source', uses: 'post' }] }, 'triggers[0].uses unresolved'],
    ['a file in a trigger', [], { triggers: [{ type: 'source', uses: './a.js' }] }, 'triggers[0].uses unresolved'],
  ])('are refused: %s', async (_what, steps, more, fault) =>
    expect(await worldOf({}).faultsOf(json(steps, more))).toEqual([fault]),
  );

  it('that are not found are told with a fixed beginning of the text', () =>
    expect(worldOf({}).validate(json([{ namespace: 'a', uses: 'no-such@1.0.0' }]))).rejects.toMatchObject({
      details: { errors: [{ message: expect.stringMatching(/^could not resolve steps\[0\]\.uses: no-such@1\.0\.0/) }] },
    }));

  it('get their literal values checked, and not those with expressions', async () => {
    const { validate, asked } = worldOf({});
    await validate(json([action({ url: '{{ event.url }}', count: 2 })]));
    expect(asked.props).toEqual([{ props: ['github', 'count'], given: { count: 2 } }]);
    expect(asked.texts).toEqual([['template', '{{ event.url }}']]);
  });

  it('have the faults and warnings of their props at the paths of the definition', async () => {
    const faults: PropFault[] = [
      { kind: 'missing', prop: 'url', message: 'm' },
      { kind: 'range', prop: 'count', message: 'm' },
      { kind: 'type', message: 'm' },
    ];
    const { faultsOf } = worldOf({ faults });
    expect(await faultsOf(json([action({})]))).toEqual([
      ...['steps[0].props.url required', 'steps[0].props.count range', 'steps[0].props type'],
    ]);
    expect(await worldOf({}).validate(json([action({})]))).toMatchObject([{ path: 'steps[0].props.ulr' }]);
    const open = worldOf({ components: { post: component('action', { hasAdditionalProps: true }) } });
    expect(await open.validate(json([action({})]))).toEqual([]);
  });

  it('may name accounts that are not here in an imported file only, and by no expression', async () => {
    const { validate, faultsOf } = worldOf({ faults: [{ kind: 'unknown_account', prop: 'github', message: 'm' }] });
    const given = (schema: string): GivenDefinition =>
      json([action({ github: { authProvisionId: 'apn_x' } })], { schema });
    expect((await validate(given('workflow/2022.04'))).map(({ code }) => code)).toContain('account_not_found');
    expect(await faultsOf(given('sluice.workflow/1'))).toEqual(['steps[0].props.github unresolved']);
    expect(await worldOf({}).faultsOf(json([action({ github: '{{ event.account }}' })]))).toEqual([
      'steps[0].props.github unsupported',
    ]);
  });
});

describe('a definition', () => {
  it('has its expressions, timers and emitters checked', async () => {
    const { faultsOf } = worldOf({});
    const triggers = [
      { type: 'timer', cron: 'wrong', timezone: 'Nowhere' },
      { type: 'timer', cron: '0 9 * * *', timezone: 'Nowhere' },
      { type: 'event', emitter: 'dc_other', event_name: 'bad' },
      { id: 'dc_known', event_name: 'bad' },
    ];
    expect(await faultsOf(json([action({ url: '{{ steps. }}' })], { triggers }))).toEqual([
      ...['triggers[0].cron format', 'triggers[1].timezone format', 'triggers[2].emitter unresolved'],
      ...['triggers[2].event_name format', 'triggers[3].event_name format', 'steps[0].props.url expression'],
    ]);
  });

  it('is strict when the request or the definition says so', async () => {
    const { validate, faultsOf } = worldOf({});
    const given = json([], { stesp: [] });
    expect(await validate(given)).toHaveLength(1);
    expect(await faultsOf(given, true)).toEqual(['stesp unknown_key']);
    expect(await faultsOf(json([], { stesp: [], strict: true }))).toEqual(['stesp unknown_key']);
  });

  it('is refused when it is too large or too deep', async () => {
    const { faultsOf, validate } = worldOf({});
    const step = (chars: number): object => ({ namespace: 'a', code: 'x'.repeat(chars) });
    expect(await faultsOf(json([step(513 * 1024)]))).toBe('workflow.too_large');
    expect(await validate(json([step(500 * 1024)]))).toEqual([]);
    const files = { 'a.js': 'x'.repeat(900 * 1024) };
    expect(await validate(json([{ namespace: 'a', uses: './a.js' }], { files }))).toEqual([]);
    const deep = Array.from({ length: 70 }).reduce((inner: unknown) => [inner], 1);
    expect(await faultsOf(json([action({ url: deep })]))).toEqual([' range']);
  });

  it.each<[what: string, read: Awaited<ReturnType<DefinitionReader['readYaml']>>, fault: unknown]>([
    ['of a fault', { kind: 'faults', faults: [['duplicate', 'm', 2, 1]] }, [' duplicate']],
    ['too large', { kind: 'too_large' }, 'workflow.too_large'],
    ['that the process cannot read', { kind: 'spoilt', reason: 'm' }, [' range']],
    ['that is a list', { kind: 'value', json: '[]' }, [' type']],
    ['without a name', { kind: 'value', json: '{}' }, ['name required']],
  ])('in YAML is refused: %s', async (_what, read, fault) =>
    expect(await worldOf({ reader: { readYaml: async () => read } }).faultsOf({ yaml: 'x' })).toEqual(fault),
  );

  it('in YAML has its errors told with line and column', () =>
    expect(worldOf({}).validate({ yaml: '{}' })).rejects.toMatchObject({
      details: { errors: [{ path: 'name', code: 'required', line: 1, column: 2 }] },
    }));

  it('waits behind 20 others of its workspace at most', async () => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const { validate } = worldOf({ reader: { readYaml: () => opened.then(() => ({ kind: 'too_large' })) } });
    const codes = Array.from({ length: 23 }, () =>
      validate({ yaml: 'x' }).catch((error: unknown) => (error instanceof DomainError ? error.code : 'other')),
    );
    open();
    expect((await Promise.all(codes)).filter((code) => code === 'workflow.too_many_definitions')).toHaveLength(1);
  });
});
