import { describe, expect, it } from '@jest/globals';
import {
  type ActionTool,
  PAGE,
  pageOfTools,
  type ToolCaller,
  toolsFor,
  type ToolsOfWorkspace,
  type WorkflowTool,
} from './tool-list.js';

const workflow = (more: Partial<WorkflowTool> = {}): WorkflowTool => ({
  workflowId: 'p_1',
  workflowName: 'Sync orders',
  createdAt: 1,
  trigger: 'tool',
  givenName: null,
  description: 'Copies orders',
  input: { type: 'object' },
  annotations: null,
  ...more,
});
const action = (more: Partial<ActionTool> = {}): ActionTool => ({
  componentId: 'sc_1',
  key: 'github-create-issue',
  name: 'Create Issue',
  description: 'Creates one',
  annotations: null,
  configurableProps: [{ name: 'title', type: 'string' }],
  hasAdditionalProps: false,
  createdAt: 1,
  isOfRegistry: false,
  ...more,
});
const anyone: ToolCaller = { isReadOnly: false, allowed: null };
const of = (more: Partial<ToolsOfWorkspace>): ToolsOfWorkspace => ({
  workflows: [],
  actions: [],
  accountsOf: () => [],
  ...more,
});
const namesFor = (caller: ToolCaller, workspace: Partial<ToolsOfWorkspace>): readonly string[] =>
  toolsFor(caller, of(workspace)).map(({ listed }) => listed.name);

describe('tools of a workspace', () => {
  it('are its workflows and actions, by name', () => {
    expect(toolsFor(anyone, of({ workflows: [workflow()], actions: [action()] }))).toEqual([
      {
        listed: {
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
        target: { kind: 'action', action: action() },
      },
      {
        listed: {
          name: 'sync_orders',
          title: 'Sync orders',
          description: 'Copies orders',
          inputSchema: { type: 'object' },
        },
        target: { kind: 'workflow', workflowId: 'p_1', trigger: 'tool', input: { type: 'object' } },
      },
    ]);
  });

  it('have the name of the trigger before that of the workflow', () => {
    expect(namesFor(anyone, { workflows: [workflow({ givenName: 'Copy_Orders' })] })).toEqual(['Copy_Orders']);
  });

  it('are one for each trigger of a workflow', () => {
    const workflows = [workflow(), workflow({ trigger: 'tool_2' }), workflow({ trigger: 'x', givenName: 'x' })];
    const tools = toolsFor(anyone, of({ workflows }));
    expect(new Set(tools.map(({ listed }) => listed.name)).size).toBe(3);
    expect(new Set(tools.map(({ target }) => target.kind === 'workflow' && target.trigger)).size).toBe(3);
  });

  it('have no action that needs a secret', () => {
    const configurableProps = [{ name: 'token', type: 'string', secret: true }];
    expect(namesFor(anyone, { actions: [action({ configurableProps })] })).toEqual([]);
  });

  it('have no description when the action has none', () => {
    const [tool] = toolsFor(anyone, of({ actions: [action({ description: null })] }));
    expect(Object.keys(tool?.listed ?? {})).toEqual(['name', 'title', 'inputSchema']);
  });

  it('pass annotations on, but those of a wrong type', () => {
    const annotations = { readOnlyHint: 'yes', destructiveHint: false, title: 'T', vendor: { x: 1 } };
    const [tool] = toolsFor(anyone, of({ actions: [action({ annotations })] }));
    expect(tool?.listed.annotations).toEqual({ destructiveHint: false, title: 'T', vendor: { x: 1 } });
    const [none] = toolsFor(anyone, of({ workflows: [workflow({ annotations: { readOnlyHint: 1 } })] }));
    expect(none?.listed).not.toHaveProperty('annotations');
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
    expect(tools.map(({ listed, target }) => target.kind === 'action' && [listed.name, target.action.key])).toEqual([
      ['a_b', 'a_b'],
      [expect.stringMatching(/^a_b_[0-9a-f]{6}$/), 'a.b'],
    ]);
  });
});

describe('tool for options', () => {
  const configurableProps = [{ name: 'repo', type: 'string', remoteOptions: true }];

  it('is there when a prop of an action computes options', () => {
    expect(namesFor(anyone, { actions: [action({ configurableProps })] })).toEqual([
      'github-create-issue',
      'sluice_options',
    ]);
  });

  it('is not there when the caller does not see the action', () => {
    const actions = [action({ configurableProps }), action({ componentId: 'sc_2', key: 'other' })];
    expect(namesFor({ isReadOnly: false, allowed: new Set(['other']) }, { actions })).toEqual(['other']);
  });

  it('has its name when a workflow asks for it', () => {
    const tools = toolsFor(
      anyone,
      of({ workflows: [workflow({ givenName: 'sluice_options' })], actions: [action({ configurableProps })] }),
    );
    expect(tools.find(({ listed }) => listed.name === 'sluice_options')?.target).toEqual({ kind: 'options' });
    expect(new Set(tools.map(({ listed }) => listed.name)).size).toBe(3);
  });
});

describe('tools of a caller', () => {
  const workspace = {
    workflows: [
      workflow(),
      workflow({ workflowId: 'p_2', givenName: 'report', annotations: { readOnlyHint: true } }),
      workflow({ workflowId: 'p_3', givenName: 'wrong', annotations: { readOnlyHint: 'true' } }),
    ],
    actions: [action(), action({ componentId: 'sc_2', key: 'a.get', annotations: { readOnlyHint: true } })],
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
        workflows: Array.from({ length: count }, (_, i) =>
          workflow({ workflowId: `p_${i}`, givenName: `t${String(i).padStart(5, '0')}`, description }),
        ),
      }),
    );
  const pagesOf = (tools: ReturnType<typeof many>): readonly (readonly string[])[] => {
    const pages: string[][] = [];
    let after: string | undefined;
    do {
      const page = pageOfTools(tools, after);
      pages.push(page.tools.map(({ name }) => name));
      after = page.next;
    } while (after !== undefined && pages.length < 100);
    return pages;
  };

  it('has all tools when they are few', () => {
    expect(pageOfTools(many(3), undefined)).toEqual({ tools: many(3).map(({ listed }) => listed) });
    expect(pageOfTools([], undefined)).toEqual({ tools: [] });
  });

  it('has a number of tools at most, and no tool is on two pages or on none', () => {
    const tools = many(PAGE.tools + 1);
    const pages = pagesOf(tools);
    expect(pages.map(({ length }) => length)).toEqual([PAGE.tools, 1]);
    expect(pages.flat()).toEqual(tools.map(({ listed }) => listed.name));
  });

  it('has a number of bytes at most', () => {
    const tools = many(5, 'x'.repeat(PAGE.bytes / 2 - 1_000));
    expect(pagesOf(tools).map(({ length }) => length)).toEqual([2, 2, 1]);
  });

  it('has one tool that alone is larger', () => {
    expect(pagesOf(many(2, 'x'.repeat(PAGE.bytes))).map(({ length }) => length)).toEqual([1, 1]);
  });

  it('goes on behind a tool that is gone', () => {
    expect(pageOfTools(many(3), 't00000a').tools.map(({ name }) => name)).toEqual(['t00001', 't00002']);
  });
});
