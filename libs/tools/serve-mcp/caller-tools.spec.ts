import { describe, expect, it } from '@jest/globals';
import { type ActionRuns } from '#libs/actions/published.js';
import { type ComponentOptions, type OptionsRequest } from '#libs/components/published.js';
import { savedData } from '#libs/components/testing/saved-data.js';
import { type Caller } from '#libs/http/callers.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { type ToolRuns } from '#libs/workflow-history/published.js';
import { ActionToolsView } from '../action-tools-view.js';
import { type FoundAction, type ToolActions, type WorkflowTools } from '../ports.js';
import { CallerTools } from './caller-tools.js';

const CALLER: Caller = { userId: 'u_1', apiKeyId: 'key_1', workspaceIds: ['o_1'] };
const CONTEXT = { workspaceId: 'o_1' } as CommandContext;
const props = [
  { name: 'shop', type: 'app', app: 'shop' },
  { name: 'item', type: 'string', remoteOptions: true },
];
const saved = (componentId: string, key: string): FoundAction & ReturnType<typeof savedData> => ({
  ...savedData({ componentId, key, kind: 'action', name: key, configurableProps: props, savedAt: 1 }),
  hasAdditionalProps: true,
  createdAt: 1,
});

type Run = Parameters<ToolRuns['call']>[0];

/** The tools of a workspace, with what calls of them asked for. */
const world = () => {
  const asked = {
    runs: [] as Run[],
    actions: [] as unknown[],
    options: [] as OptionsRequest[],
    registry: [] as string[],
  };
  const refusal: { error?: Error } = {};
  const view = new ActionToolsView();
  view.apply(recorded('component-sc_1', { type: 'ComponentSaved', data: saved('sc_1', 'buy') }));
  const workflows: WorkflowTools = {
    tools: () => [
      {
        workflowId: 'p_1',
        workflowName: 'Report',
        createdAt: 1,
        trigger: { name: 'tool', isNamed: false, description: 'Reports', input: { type: 'object' }, annotations: null },
      },
    ],
  };
  const actions: ToolActions = {
    find: async (id) => [saved('sc_1', 'buy'), saved('sc_9', 'listed')].find(({ componentId }) => componentId === id),
    ofRegistry: async (keys) => {
      asked.registry.push(...keys);
      return keys.includes('listed') ? [saved('sc_9', 'listed')] : [];
    },
  };
  const runs: ToolRuns = {
    call: async (call) => {
      asked.runs.push(call);
      if (refusal.error !== undefined) throw refusal.error;
      const steps = [{ state: 'succeeded', exports: { $return_value: 7 } }];
      return { id: 'run_1', state: 'succeeded', error: null, cancel_reason: null, response: null, steps } as never;
    },
  };
  const actionRuns: ActionRuns = {
    run: async (...call) => {
      asked.actions.push(call);
      return { status: 'ok', logs: [], answer: { ret: 1, exports: {} }, endedAt: 1, warnings: [] };
    },
  };
  const forms: ComponentOptions = {
    options: async (request) => {
      asked.options.push(request);
      return { options: null, stringOptions: ['a'], context: null, logs: [], errors: [], warnings: [] };
    },
  };
  const accounts = { ofApp: (app: string, workspaceId: string) => (workspaceId === 'o_1' ? [`apn_${app}`] : []) };
  const tools = new CallerTools(workflows, view, actions, accounts, runs, actionRuns, forms, { waitMs: 5_000 });
  const ask = (caller = CALLER) => ({ caller, context: CONTEXT, repeat: async () => 'the repeat' });
  const names = async (caller?: Caller) => (await tools.list(ask(caller), undefined)).tools.map(({ name }) => name);
  return { asked, refusal, tools, ask, names };
};

// docs/reference/workflows.md#mcp
describe('tools of a caller', () => {
  it('are those of the workspace, without the registry', async () => {
    const { names, asked } = world();
    expect(await names()).toEqual(['buy', 'report', 'sluice_options']);
    expect(asked.registry).toEqual([]);
  });

  it('are those that its key opens, also of the registry', async () => {
    const { names, tools, ask } = world();
    const caller = { ...CALLER, tools: new Set(['report', 'listed']) };
    expect(await names(caller)).toEqual(['listed', 'report', 'sluice_options']);
    expect(await tools.call(ask(caller), 'buy', {})).toBeUndefined();
    expect(await tools.call(ask(caller), 'listed', {})).toMatchObject({ structuredContent: { ret: 1 } });
    expect(await names({ ...CALLER, isReadOnly: true })).toEqual([]);
  });

  it('run a workflow with the arguments, once for each repeat of the request', async () => {
    const { asked, tools, ask } = world();
    expect(await tools.call(ask(), 'report', { day: 1 })).toEqual({
      content: [{ type: 'text', text: '7' }],
      structuredContent: { run_id: 'run_1', state: 'succeeded', result: 7 },
    });
    const call = { workflowId: 'p_1', workspaceId: 'o_1', tool: 'tool', waitMs: 5_000, repeatId: 'the repeat' };
    expect(asked.runs).toEqual([{ ...call, event: { day: 1 } }]);
  });

  it('run an action as over /v1, with the one account of its app', async () => {
    const { asked, tools, ask } = world();
    await tools.call(ask(), 'buy', { item: 'x' });
    const configured = { shop: { authProvisionId: 'apn_shop' }, item: 'x' };
    expect(asked.actions).toEqual([['sc_1', { props: configured, dynamicPropsId: undefined }, CONTEXT]]);
  });

  it('ask for values of a prop as the caller', async () => {
    const { asked, tools, ask } = world();
    await tools.call(ask(), 'sluice_options', { tool: 'buy', prop: 'item', query: 'q' });
    expect(asked.options).toMatchObject([
      { component: 'sc_1', prop: 'item', query: 'q', page: 0, prevContext: {}, caller: CALLER },
    ]);
  });

  it('answer with what refuses a call, and with nothing else that fails', async () => {
    const { refusal, tools, ask } = world();
    refusal.error = new DomainError('workflow.inactive', 'it is inactive');
    expect(await tools.call(ask(), 'report', {})).toEqual({
      content: [{ type: 'text', text: 'workflow_inactive: it is inactive' }],
      isError: true,
    });
    for (const error of [new TypeError('a mistake of the server'), new DomainError('platform.unavailable', 'later')]) {
      refusal.error = error;
      await expect(tools.call(ask(), 'report', {})).rejects.toBe(error);
    }
  });
});
