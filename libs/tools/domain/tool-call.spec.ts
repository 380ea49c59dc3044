import { describe, expect, it } from '@jest/globals';
import { toolCall } from './tool-call.js';
import { type ActionDetails, actionFacts, type ToolCaller, toolsFor } from './tool-list.js';

const details: ActionDetails = {
  name: 'Create Issue',
  description: null,
  annotations: null,
  configurableProps: [
    { name: 'github', type: 'app', app: 'github' },
    { name: 'repo', type: 'string', remoteOptions: true },
    { name: 'title', type: 'string', optional: true },
    { name: 'internal', type: 'string', hidden: true, remoteOptions: true },
  ],
  hasAdditionalProps: false,
};
const open = { ...details, hasAdditionalProps: true };
const action = { createdAt: 1, isOfRegistry: false, ...actionFacts(details) };
const workspace = {
  workflows: [
    {
      workflowId: 'p_1',
      workflowName: 'Report',
      createdAt: 1,
      trigger: {
        name: 'tool_2',
        isNamed: false,
        description: 'Reports',
        input: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
        annotations: null,
      },
    },
  ],
  actions: [
    { componentId: 'sc_1', key: 'create', ...action },
    { componentId: 'sc_2', key: 'open', ...action },
    { componentId: 'sc_3', key: 'gone', ...action },
  ],
};
const all = new Map([
  ['sc_1', details],
  ['sc_2', open],
]);
const anyone: ToolCaller = { isReadOnly: false, allowed: null };
const call = (name: string, given?: Readonly<Record<string, unknown>>, caller = anyone, accounts = ['apn_1']) =>
  toolCall(
    {
      tools: toolsFor(caller, workspace),
      detailsOf: async ({ componentId }) => all.get(componentId),
      accountsOf: () => accounts,
    },
    { name, arguments: given },
  );
const refused = (message: string) => ({ kind: 'failure', failure: { name: 'InvalidArguments', message } });

describe('call of a tool', () => {
  it('is unknown without such a tool, and for a caller who may not call it', async () => {
    expect(await call('nothing')).toEqual({ kind: 'unknown' });
    expect(await call('gone')).toEqual({ kind: 'unknown' });
    expect(await call('report', { day: 'x' }, { isReadOnly: true, allowed: null })).toEqual({ kind: 'unknown' });
    expect(await call('report', { day: 'x' }, { isReadOnly: false, allowed: new Set(['create']) })).toEqual({
      kind: 'unknown',
    });
  });

  it('gives a workflow the arguments as its event', async () => {
    expect(await call('report', { day: 'today', more: 1 })).toEqual({
      kind: 'workflow',
      workflowId: 'p_1',
      trigger: 'tool_2',
      event: { day: 'today', more: 1 },
    });
  });

  it('is a failure with arguments that the workflow does not take', async () => {
    expect(await call('report')).toEqual(refused('arguments.day: is required'));
    expect(await call('report', { day: 1 })).toEqual(refused('arguments.day: must be a string; got 1'));
  });

  it('runs an action with the arguments as props', async () => {
    expect(await call('create', { repo: 'a/b' })).toEqual({
      kind: 'action',
      componentId: 'sc_1',
      props: { github: { authProvisionId: 'apn_1' }, repo: 'a/b' },
    });
    expect(await call('create', { internal: 1 })).toEqual(refused('there is no argument "internal": give repo, title'));
  });
});

describe('call of the tool for options', () => {
  it('asks for the options of a prop', async () => {
    expect(await call('sluice_options', { tool: 'create', prop: 'repo' })).toEqual({
      kind: 'options',
      componentId: 'sc_1',
      prop: 'repo',
      props: { github: { authProvisionId: 'apn_1' } },
      page: 0,
    });
    const more = { query: 'x', page: 2, prev_context: { after: 5 }, arguments: { title: 't' } };
    expect(await call('sluice_options', { tool: 'create', prop: 'repo', ...more })).toEqual({
      kind: 'options',
      componentId: 'sc_1',
      prop: 'repo',
      props: { github: { authProvisionId: 'apn_1' }, title: 't' },
      page: 2,
      query: 'x',
      prevContext: { after: 5 },
    });
  });

  it('asks for the options of a prop that the action may add', async () => {
    expect(await call('sluice_options', { tool: 'open', prop: 'field' })).toMatchObject({
      kind: 'options',
      prop: 'field',
    });
  });

  it.each([
    [{ tool: 'create' }, 'arguments.prop: is required'],
    [{ tool: 'create', prop: 'repo', page: -1 }, 'arguments.page: must be at least 0; got -1'],
    [{ tool: 'create', prop: 'repo', other: 1 }, 'arguments.other: is unknown'],
    [{ tool: 'create', prop: 'repo', arguments: { internal: 1 } }, 'there is no argument "internal": give repo, title'],
    [
      { tool: 'create', prop: 'title' },
      'arguments.prop: the description of "title" of "create" does not name the tool sluice_options',
    ],
    [
      { tool: 'open', prop: 'internal' },
      'arguments.prop: the description of "internal" of "open" does not name the tool sluice_options',
    ],
    [
      { tool: 'report', prop: 'day' },
      'arguments.tool: "report" is no tool whose arguments have values here: see the list of tools',
    ],
    [
      { tool: 'nothing', prop: 'day' },
      'arguments.tool: "nothing" is no tool whose arguments have values here: see the list of tools',
    ],
  ])('is a failure with %j', async (given, message) => {
    expect(await call('sluice_options', given)).toEqual(refused(message));
  });

  // A form takes any account of the workspace. The key opens those of its tools alone.
  it('is a failure with an account that is none of the tool', async () => {
    const ask = (given: Readonly<Record<string, unknown>>) => call('sluice_options', given, anyone, ['apn_1', 'apn_2']);
    const chosen = { tool: 'create', prop: 'repo', arguments: { github: 'apn_2' } };
    expect(await ask(chosen)).toMatchObject({ kind: 'options', props: { github: { authProvisionId: 'apn_2' } } });
    for (const github of ['apn_9', { authProvisionId: 'apn_9' }]) {
      expect(await ask({ ...chosen, arguments: { github } })).toEqual(
        refused('argument github must be one of apn_1, apn_2; got "apn_9"'),
      );
    }
    const added = { tool: 'open', prop: 'repo', arguments: { other: { authProvisionId: 'apn_1' } } };
    expect(await ask(added)).toEqual(refused('arguments.arguments.other: must name no account'));
    expect(await ask({ ...added, arguments: { other: 'apn_1' } })).toMatchObject({ kind: 'options' });
  });

  it('is a failure for a tool that the caller may not call', async () => {
    const caller = { isReadOnly: false, allowed: new Set(['open', 'sluice_options']) };
    expect(await call('sluice_options', { tool: 'create', prop: 'repo' }, caller)).toMatchObject({ kind: 'failure' });
  });
});
