import { describe, expect, it } from '@jest/globals';
import { type Caller } from '#libs/http/callers.js';
import { toolCaller, type VerifiedKey } from './tool-caller.js';
import { type ActionTool, toolsFor, type ToolsOfWorkspace, type WorkflowTool } from './tool-list.js';

const roleIn = (id: string) =>
  id === 'o_1' ? 'owner' : id === 'o_2' ? 'member' : id === 'o_3' ? 'read_only' : undefined;

// docs/reference/rest-api.md#api-key-tools
describe('what a key may call', () => {
  it('is every tool of the workspace, unless the key is for tools only', () => {
    expect(toolCaller({}, 'o_1')).toEqual({ isReadOnly: false, allowed: null });
    const tools = new Set(['a']);
    expect(toolCaller({ tools }, 'o_1')).toEqual({ isReadOnly: false, allowed: tools });
    expect(toolCaller({ tools: new Set<string>() }, 'o_1').allowed).toEqual(new Set());
  });

  it.each([
    ['o_1', false],
    ['o_2', false],
    ['o_3', true],
    ['o_9', true],
  ])('depends on the role of its user in workspace %s', (workspaceId, isReadOnly) => {
    expect(toolCaller({ roleIn }, workspaceId)).toEqual({ isReadOnly, allowed: null });
    expect(toolCaller({ roleIn, isReadOnly: true }, workspaceId).isReadOnly).toBe(true);
  });

  it('is read from the caller of a request', () => {
    const caller: Caller = { userId: 'u_1', apiKeyId: 'key_1', workspaceIds: ['o_1'], tools: new Set(['a']), roleIn };
    expect(toolCaller(caller satisfies VerifiedKey, 'o_3')).toEqual({ isReadOnly: true, allowed: new Set(['a']) });
  });

  describe('of a workspace', () => {
    const workflow = (name: string, annotations: WorkflowTool['trigger']['annotations'] = null): WorkflowTool => ({
      workflowId: `p_${name}`,
      workflowName: name,
      createdAt: 1,
      trigger: { name, isNamed: true, description: '', input: { type: 'object' }, annotations },
    });
    const action = (key: string, more: Partial<ActionTool> = {}): ActionTool => ({
      componentId: `sc_${key}`,
      key,
      createdAt: 1,
      isOfRegistry: false,
      needsSecret: false,
      isReadOnly: false,
      hasOptions: false,
      ...more,
    });
    const namesFor = (key: VerifiedKey, more: Partial<ToolsOfWorkspace> = {}): readonly string[] => {
      const workspace: ToolsOfWorkspace = {
        workflows: [workflow('report', { readOnlyHint: true }), workflow('order')],
        actions: [action('mail'), action('look', { isReadOnly: true })],
        ...more,
      };
      return toolsFor(toolCaller(key, 'o_1'), workspace).map(({ name }) => name);
    };

    it('is cut by both limits at once', () => {
      const tools = new Set(['report', 'mail']);
      expect(namesFor({})).toEqual(['look', 'mail', 'order', 'report']);
      expect(namesFor({ tools })).toEqual(['mail', 'report']);
      expect(namesFor({ isReadOnly: true })).toEqual(['look', 'report']);
      expect(namesFor({ tools, isReadOnly: true })).toEqual(['report']);
      expect(namesFor({ tools: new Set() })).toEqual([]);
    });

    it('has no name but those of the list, nor one that only differs in case or is a part', () => {
      for (const name of ['*', 'Mail', 'mai', 'mail_', 'sluice_options', '__proto__'])
        expect(namesFor({ tools: new Set([name]) })).toEqual([]);
    });

    // docs/adr/0084-keys-for-tools.md
    it('is what has the name now: a workflow that takes the name of an action is open, and the action by its key', () => {
      const tools = new Set(['mail']);
      const actions = [action('mail')];
      expect(namesFor({ tools }, { actions })).toEqual(['mail']);
      const both = namesFor({ tools }, { actions, workflows: [workflow('mail')] });
      expect(both).toEqual(['mail', expect.stringMatching(/^mail_[0-9a-f]{6}$/)]);
    });

    it('has the tool for options only beside an allowed action that has them', () => {
      const asking = { hasOptions: true };
      const actions = [action('mail'), action('issue', asking)];
      expect(namesFor({ tools: new Set(['mail']) }, { actions })).toEqual(['mail']);
      expect(namesFor({ tools: new Set(['issue']) }, { actions })).toEqual(['issue', 'sluice_options']);
    });
  });
});
