import { describe, expect, it } from '@jest/globals';
import {
  type ActionDetails,
  actionFacts,
  type ActionTool,
  MOST_TOOLS,
  PAGE,
  pageOfTools,
  type ToolCaller,
  toolsFor,
  type ToolsOfWorkspace,
  type WorkflowTool,
} from './tool-list.js';

type Trigger = WorkflowTool['trigger'];

const workflow = (more: Partial<WorkflowTool> = {}, trigger: Partial<Trigger> = {}): WorkflowTool => ({
  workflowId: 'p_1',
  workflowName: 'Sync orders',
  createdAt: 1,
  trigger: {
    name: 'tool',
    isNamed: false,
    description: 'Copies orders',
    input: { type: 'object' },
    annotations: null,
    ...trigger,
  },
  ...more,
});
const named = (name: string, more: Partial<Trigger> = {}) =>
  workflow({ workflowId: `p_${name}` }, { name, isNamed: true, ...more });
const action = (more: Partial<ActionTool> = {}): ActionTool => ({
  componentId: 'sc_1',
  key: 'github-create-issue',
  createdAt: 1,
  isOfRegistry: false,
  needsSecret: false,
  isReadOnly: false,
  hasOptions: false,
  ...more,
});
const details = (more: Partial<ActionDetails> = {}): ActionDetails => ({
  name: 'Create Issue',
  description: 'Creates one',
  annotations: null,
  configurableProps: [{ name: 'title', type: 'string' }],
  hasAdditionalProps: false,
  ...more,
});
const anyone: ToolCaller = { isReadOnly: false, allowed: null };
const of = (more: Partial<ToolsOfWorkspace>): ToolsOfWorkspace => ({ workflows: [], actions: [], ...more });
const namesFor = (caller: ToolCaller, workspace: Partial<ToolsOfWorkspace>): readonly string[] =>
  toolsFor(caller, of(workspace)).map(({ name }) => name);
const listed = async (workspace: Partial<ToolsOfWorkspace>, found: ActionDetails | undefined = details()) =>
  (
    await pageOfTools(toolsFor(anyone, of(workspace)), undefined, {
      detailsOf: async () => found,
      accountsOf: () => [],
    })
  ).tools;

describe('tools of a workspace', () => {
  it('are its workflows and actions, by name', async () => {
    const workspace = { workflows: [workflow()], actions: [action()] };
    expect(toolsFor(anyone, of(workspace))).toEqual([
      { name: 'github-create-issue', target: { kind: 'action', action: action() } },
      { name: 'sync_orders', target: { kind: 'workflow', workflow: workflow() } },
    ]);
    expect(await listed(workspace)).toEqual([
      {
        name: 'github-create-issue',
        title: 'Create Issue',
        description: 'Creates one',
        inputSchema: {
          type: 'object',
          properties: { title: { type: 'string' } },
          required: ['title'],
          additionalProperties: false,
        },
      },
      { name: 'sync_orders', title: 'Sync orders', description: 'Copies orders', inputSchema: { type: 'object' } },
    ]);
  });

  it('have the name of the trigger before that of the workflow', () => {
    expect(namesFor(anyone, { workflows: [named('Copy_Orders')] })).toEqual(['Copy_Orders']);
  });

  it('are one for each trigger of a workflow', () => {
    const workflows = [workflow(), workflow({}, { name: 'tool_2' }), workflow({}, { name: 'x', isNamed: true })];
    const tools = toolsFor(anyone, of({ workflows }));
    expect(new Set(tools.map(({ name }) => name)).size).toBe(3);
    expect(new Set(tools.map(({ target }) => target.kind === 'workflow' && target.workflow.trigger.name)).size).toBe(3);
  });

  it('have no action that needs a secret', () => {
    expect(namesFor(anyone, { actions: [action({ needsSecret: true })] })).toEqual([]);
  });

  it('have no description when the action has none', async () => {
    const [tool] = await listed({ actions: [action()] }, details({ description: null }));
    expect(Object.keys(tool ?? {})).toEqual(['name', 'title', 'inputSchema']);
  });

  it('pass annotations on, but those of a wrong type', async () => {
    const annotations = { readOnlyHint: 'yes', destructiveHint: false, title: 'T', vendor: { x: 1 } };
    const [tool] = await listed({ actions: [action()] }, details({ annotations }));
    expect(tool?.annotations).toEqual({ destructiveHint: false, title: 'T', vendor: { x: 1 } });
    const [none] = await listed({ workflows: [workflow({}, { annotations: { readOnlyHint: 1 } })] });
    expect(none).not.toHaveProperty('annotations');
  });

  it('are not listed when the action is gone meanwhile', async () => {
    const page = await pageOfTools(toolsFor(anyone, of({ actions: [action()] })), undefined, {
      detailsOf: async () => undefined,
      accountsOf: () => [],
    });
    expect(page).toEqual({ tools: [] });
  });

  it('are a number of each kind at most, the first ones', () => {
    const actions = Array.from({ length: MOST_TOOLS + 1 }, (_, i) => action({ componentId: `sc_${i}`, key: `a${i}` }));
    const names = namesFor(anyone, { actions, workflows: [named('w')] });
    expect([names.length, names.includes('w'), names.includes(`a${MOST_TOOLS}`)]).toEqual([
      MOST_TOOLS + 1,
      true,
      false,
    ]);
  });

  it('have an action of the registry unless the workspace has one of its key', () => {
    const ofRegistry = action({ componentId: 'sc_2', isOfRegistry: true });
    expect(namesFor(anyone, { actions: [ofRegistry] })).toEqual(['github-create-issue']);
    const tools = toolsFor(anyone, of({ actions: [ofRegistry, action({ createdAt: 9 })] }));
    expect(tools.map(({ target }) => target.kind === 'action' && target.action.componentId)).toEqual(['sc_1']);
  });

  it('keep their names when the caller sees an action of the registry that would have one of them', () => {
    const own = action({ componentId: 'sc_2', key: 'a_b', createdAt: 9 });
    const ofRegistry = action({ key: 'a.b', isOfRegistry: true, createdAt: 1 });
    const tools = toolsFor(anyone, of({ actions: [ofRegistry, own] }));
    expect(tools.map(({ name, target }) => target.kind === 'action' && [name, target.action.key])).toEqual([
      ['a_b', 'a_b'],
      [expect.stringMatching(/^a_b_[0-9a-f]{6}$/), 'a.b'],
    ]);
  });
});

describe('facts of an action', () => {
  it('tell what its tool needs', () => {
    expect(actionFacts(details())).toEqual({ needsSecret: false, isReadOnly: false, hasOptions: false });
    const secret = [{ name: 'token', type: 'string', secret: true }];
    expect(actionFacts(details({ configurableProps: secret }))).toMatchObject({ needsSecret: true });
    const remote = [{ name: 'repo', type: 'string', remoteOptions: true }];
    expect(actionFacts(details({ configurableProps: remote }))).toMatchObject({ hasOptions: true });
    expect(actionFacts(details({ annotations: { readOnlyHint: true } }))).toMatchObject({ isReadOnly: true });
    expect(actionFacts(details({ annotations: { readOnlyHint: 'true' } }))).toMatchObject({ isReadOnly: false });
  });
});

describe('tool for options', () => {
  it('is there when a prop of an action computes options', async () => {
    const workspace = { actions: [action({ hasOptions: true })] };
    expect(namesFor(anyone, workspace)).toEqual(['github-create-issue', 'sluice_options']);
    expect((await listed(workspace)).at(-1)).toMatchObject({ name: 'sluice_options', title: 'Values of an argument' });
  });

  it('is not there when the caller does not see the action', () => {
    const actions = [action({ hasOptions: true }), action({ componentId: 'sc_2', key: 'other' })];
    expect(namesFor({ isReadOnly: false, allowed: new Set(['other']) }, { actions })).toEqual(['other']);
  });

  it('has its name when a workflow asks for it', () => {
    const tools = toolsFor(
      anyone,
      of({ workflows: [named('sluice_options')], actions: [action({ hasOptions: true })] }),
    );
    expect(tools.find(({ name }) => name === 'sluice_options')?.target).toEqual({ kind: 'options' });
    expect(new Set(tools.map(({ name }) => name)).size).toBe(3);
  });
});

describe('tools of a caller', () => {
  const workspace = {
    workflows: [
      workflow(),
      named('report', { annotations: { readOnlyHint: true } }),
      named('wrong', { annotations: { readOnlyHint: 'true' } }),
    ],
    actions: [action(), action({ componentId: 'sc_2', key: 'a.get', isReadOnly: true })],
  };

  it('are those that only read for a caller who may only read', () => {
    expect(namesFor({ isReadOnly: true, allowed: null }, workspace)).toEqual(['a_get', 'report']);
  });

  it('are those of the allow list, by name or by key of the action', () => {
    const allowed = new Set(['a.get', 'sync_orders', 'unknown']);
    expect(namesFor({ isReadOnly: false, allowed }, workspace)).toEqual(['a_get', 'sync_orders']);
    expect(namesFor({ isReadOnly: false, allowed: new Set(['a_get']) }, workspace)).toEqual(['a_get']);
    expect(namesFor({ isReadOnly: false, allowed: new Set() }, workspace)).toEqual([]);
    expect(namesFor({ isReadOnly: true, allowed }, workspace)).toEqual(['a_get']);
  });

  it('have the names that they have for everyone', () => {
    const workflows = [workflow(), workflow({ workflowId: 'p_2', createdAt: 2 })];
    const [, younger = ''] = namesFor(anyone, { workflows });
    expect(namesFor({ isReadOnly: false, allowed: new Set([younger]) }, { workflows })).toEqual([younger]);
  });
});

describe('page of tools', () => {
  const many = (count: number, description = 'x') =>
    toolsFor(
      anyone,
      of({
        workflows: Array.from({ length: count }, (_, i) => named(`t${String(i).padStart(5, '0')}`, { description })),
      }),
    );
  const ports = { detailsOf: async () => undefined, accountsOf: () => [] };
  const pagesOf = async (tools: ReturnType<typeof many>): Promise<readonly (readonly string[])[]> => {
    const pages: string[][] = [];
    let after: string | undefined;
    do {
      const page = await pageOfTools(tools, after, ports);
      pages.push(page.tools.map(({ name }) => name));
      after = page.next;
    } while (after !== undefined && pages.length < 100);
    return pages;
  };

  it('has all tools when they are few', async () => {
    expect(await pagesOf(many(3))).toEqual([['t00000', 't00001', 't00002']]);
    expect(await pageOfTools([], undefined, ports)).toEqual({ tools: [] });
  });

  it('has a number of tools at most, and no tool is on two pages or on none', async () => {
    const tools = many(PAGE.tools + 1);
    const pages = await pagesOf(tools);
    expect(pages.map(({ length }) => length)).toEqual([PAGE.tools, 1]);
    expect(pages.flat()).toEqual(tools.map(({ name }) => name));
  });

  it('has a number of actions at most, because each is read', async () => {
    const read: string[] = [];
    const actions = Array.from({ length: PAGE.actions + 1 }, (_, i) =>
      action({ componentId: `sc_${i}`, key: `a${String(i).padStart(5, '0')}` }),
    );
    const detailsOf = async ({ key }: ActionTool) => {
      read.push(key);
      return details();
    };
    const tools = toolsFor(anyone, of({ actions, workflows: [named('z')] }));
    const first = await pageOfTools(tools, undefined, { ...ports, detailsOf });
    expect([first.tools.length, first.next, read.length]).toEqual([
      PAGE.actions,
      first.tools.at(-1)?.name,
      PAGE.actions,
    ]);
    const second = await pageOfTools(tools, first.next, { ...ports, detailsOf });
    expect(second.tools.map(({ name }) => name)).toEqual([actions.at(-1)?.key, 'z']);
    expect(second.next).toBeUndefined();
  });

  it('has a number of bytes at most', async () => {
    const tools = many(5, 'x'.repeat(PAGE.bytes / 2 - 1_000));
    expect((await pagesOf(tools)).map(({ length }) => length)).toEqual([2, 2, 1]);
  });

  it('has one tool that alone is larger', async () => {
    expect((await pagesOf(many(2, 'x'.repeat(PAGE.bytes)))).map(({ length }) => length)).toEqual([1, 1]);
  });

  it('goes on behind a tool that is gone', async () => {
    expect((await pageOfTools(many(3), 't00000a', ports)).tools.map(({ name }) => name)).toEqual(['t00001', 't00002']);
  });
});
