import { tmpdir } from 'node:os';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type Paged } from '#test/harness/api-client.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { relayCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';

const instance = useStandalone();
const { api, server } = instance;

const admin = (...args: readonly string[]): Promise<Told> =>
  runNode([CLI, 'admin', ...args], { ...process.env, SLUICE_DATA_DIR: server.dataDir }, tmpdir());
/** Output of a command with --json that succeeds. */
const json = async <T>(...args: readonly string[]): Promise<T> => {
  const { status, stdout, stderr } = await admin(...args, '--json');
  if (status !== 0) throw new Error(`admin ${args.join(' ')} failed: ${stderr}`);
  return JSON.parse(stdout) as T;
};

interface Created {
  readonly id: string;
  readonly workspace_id: string;
  readonly key: string;
}
interface Issued {
  readonly id: string;
  readonly key: string;
  readonly scope: string;
  readonly expires_at: string | null;
}
interface AuditEntry {
  readonly kind: string;
  readonly type: string;
  readonly actor: { readonly user_id: string; readonly api_key_id: string | null };
  readonly changes: readonly unknown[];
}

const ADA = 'ada@example.com';
let ada: Created;
let research: string;

const startedFor = async <T>(work: () => Promise<T>): Promise<T> => {
  await server.start();
  try {
    return await work();
  } finally {
    await server.stop();
  }
};
const auditOf = (workspace: string, key: string): Promise<Paged<AuditEntry>> =>
  api.expect(200, 'GET', `/v1/workspaces/${workspace}/audit`, { key, query: { limit: '100' } });

describe('sluice admin', () => {
  it('is refused beside a running embedded server, naming its pid', async () => {
    const told = await admin('user', 'list');
    expect(told).toMatchObject({ status: 1, stdout: '' });
    expect(told.stderr).toContain(`in use by the process with pid ${server.pid}`);
  });

  describe('on a stopped installation', () => {
    beforeAll(() => server.stop());

    // docs/reference/rest-api.md#users-made
    it('makes and lists users, in text and as JSON', async () => {
      ada = await json<Created>('user', 'create', '--email', ADA, '--workspace', 'Lab');
      const bob = await admin('user', 'create', '--email', 'b.b+x@example.com', '--username', 'bob');
      expect(bob.stdout).toMatch(
        /^user u_\w+ \(bob, b\.b\+x@example\.com\), workspace o_\w+\nAPI key, shown this once: sk_[0-9a-f]{40}\n$/,
      );
      const users = await json<object[]>('user', 'list');
      expect(users).toContainEqual({
        id: ada.id,
        username: 'ada',
        email: ADA,
        registered_at: expect.stringMatching(/Z$/),
        keys: 1,
        workspaces: [{ id: ada.workspace_id, name: 'Lab', role: 'owner' }],
      });
      const { stdout } = await admin('user', 'list');
      expect(stdout).toMatch(/^ID +USERNAME +EMAIL +KEYS +WORKSPACES\n/);
      expect(stdout).toMatch(new RegExp(`^${ada.id} +ada +${ADA} +1 +Lab \\(owner\\)$`, 'm'));
      expect(stdout).not.toContain('sk_');
    }, 60_000);

    // docs/reference/rest-api.md#users-made
    it('makes, renames and lists workspaces', async () => {
      const made = await json<{ id: string }>('workspace', 'create', '--name', 'Resaerch', '--owner', ADA);
      research = made.id;
      expect((await admin('workspace', 'rename', '--workspace', 'Resaerch', '--name', 'Research')).stdout).toBe(
        `workspace ${research} is renamed\n`,
      );
      const again = await admin('workspace', 'rename', '--workspace', research, '--name', 'Research');
      expect(again.stdout).toBe(`workspace ${research} has that name already\n`);
      expect((await admin('workspace', 'list')).stdout).toMatch(new RegExp(`^${research} +Research +ada +1$`, 'm'));
    }, 60_000);

    it('adds members, changes their roles and removes them', async () => {
      const of = ['--workspace', 'Research', '--email'];
      expect((await admin('member', 'add', ...of, 'bob', '--role', 'read_only')).stdout).toMatch(
        /^bob \(u_\w+\) is a member of workspace o_\w+: read_only\n$/,
      );
      await json('member', 'change', ...of, 'bob', '--role', 'owner');
      const members = await json<object[]>('member', 'list', '--workspace', research);
      expect(members).toMatchObject([
        { username: 'ada', email: ADA, role: 'owner' },
        { username: 'bob', role: 'owner' },
      ]);
      expect((await admin('member', 'remove', ...of, ADA)).status).toBe(0);
      expect((await admin('member', 'add', ...of, ADA)).status).toBe(0);
      expect((await admin('member', 'list', '--workspace', research)).stdout).toMatch(
        new RegExp(`^${ada.id} +ada +${ADA} +member$`, 'm'),
      );
    }, 60_000);

    // docs/reference/rest-api.md#api-key-tools
    it('issues a key for tools only, which the server keeps to them', async () => {
      const issue = ['key', 'issue', '--user', ADA, '--tool', 'send_mail', '--tool', 'slack-send'];
      const tools = ['send_mail', 'slack-send'];
      const issued = await json<Issued>(...issue, '--name', 'agent', '--read-only');
      expect(issued).toMatchObject({ scope: 'read-only tools', tools });
      expect((await admin(...issue)).stderr).toMatch(/^key key_\w+ of ada \(u_\w+\), tools, without end/);
      expect(await json<object[]>('key', 'list', '--user', 'ada')).toContainEqual(
        expect.objectContaining({ id: issued.id, scope: 'read-only tools', tools }),
      );
      await startedFor(async () => {
        const { key } = issued;
        const told = await api.call('GET', '/v1/users/me', { key });
        expect(told).toMatchObject({ status: 403, body: { code: 'tools_only_key' } });
      });
    }, 120_000);

    it('issues keys with limits, which the server keeps, and shows each once', async () => {
      const issue = ['key', 'issue', '--user', ADA, '--name', 'reports', '--expires-in', '30d', '--read-only'];
      const issued = await json<Issued>(...issue);
      expect(issued).toMatchObject({ scope: 'read-only', key: expect.stringMatching(/^sk_[0-9a-f]{40}$/) });
      const days = (Date.parse(issued.expires_at ?? '') - Date.now()) / 86_400_000;
      expect(days).toBeGreaterThan(29.9);
      expect(days).toBeLessThan(30.1);
      const plain = await admin('key', 'issue', '--user', 'ada');
      expect(plain.stdout).toMatch(/^sk_[0-9a-f]{40}\n$/);
      expect(plain.stderr).toMatch(/^key key_\w+ of ada \(u_\w+\), full, without end, shown this once:\n$/);
      const listed = await admin('key', 'list', '--user', 'ada');
      expect(listed.stdout).toMatch(
        new RegExp(`^${issued.id} +ada +read-only +\\S+Z +${issued.expires_at} +reports$`, 'm'),
      );
      expect(listed.stdout + listed.stderr).not.toContain('sk_');
      expect(await json<object[]>('key', 'list', '--user', 'ada')).toContainEqual(
        expect.objectContaining({ id: issued.id, scope: 'read-only', workspaces: [ada.workspace_id, research] }),
      );

      await startedFor(async () => {
        const { key } = issued;
        const orgs = (await api.expect<Data<{ orgs: { name: string }[] }>>(200, 'GET', '/v1/users/me', { key })).data;
        expect(orgs.orgs.map(({ name }) => name)).toEqual(expect.arrayContaining(['Lab', 'Research']));
        expect((await api.call('POST', '/v1/webhooks?url=https://example.com/', { key })).status).toBe(403);
        expect(server.lastOutput).not.toContain(key);
      });
      expect((await admin('key', 'revoke', issued.id)).stdout).toBe(`key ${issued.id} is revoked\n`);
      expect((await admin('key', 'revoke', issued.id)).stdout).toBe(`key ${issued.id} was revoked already\n`);
      await startedFor(async () => {
        expect((await api.call('GET', '/v1/users/me', { key: issued.key })).status).toBe(401);
      });
    }, 120_000);

    it('is in the audit log with the operator as actor', async () => {
      await startedFor(async () => {
        const kinds = new Set<string>();
        for (const workspace of [ada.workspace_id, research]) {
          const { data } = await auditOf(workspace, ada.key);
          for (const { kind, type, actor } of data) {
            kinds.add(type);
            expect({ kind, type, actor }).toEqual({ kind, type, actor: { user_id: 'operator', api_key_id: null } });
          }
        }
        const made = ['WorkspaceCreated', 'WorkspaceRenamed', 'WorkspaceMemberAdded', 'WorkspaceMemberRoleChanged'];
        const ofKeys = ['ApiKeyIssued', 'ToolsKeyIssued', 'ApiKeyHandedOver', 'ApiKeyRevoked'];
        const expected = [...made, 'WorkspaceMemberRemoved', ...ofKeys];
        expect([...kinds].sort()).toEqual(expected.sort());
        const renamed = (await auditOf(research, ada.key)).data.find(({ type }) => type === 'WorkspaceRenamed');
        expect(renamed?.changes).toEqual([{ path: 'name', before: 'Resaerch', after: 'Research' }]);
      });
    }, 60_000);

    // docs/reference/rest-api.md#users-made
    it('deletes a workspace once it holds nothing', async () => {
      const { id: spare } = await json<{ id: string }>('workspace', 'create', '--name', 'Spare', '--owner', ADA);
      const source = await startedFor(async () => {
        const body = { component_code: relayCode(), name: 'kept', org_id: spare };
        return (await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/sources', { key: ada.key, body })).data.id;
      });
      const refused = await admin('workspace', 'delete', '--workspace', 'Spare');
      expect(refused).toMatchObject({ status: 1, stdout: '' });
      expect(refused.stderr).toContain(`--workspace: ${spare} (Spare) holds 1 source: delete them first`);
      await startedFor(() => api.expect(204, 'DELETE', `/v1/sources/${source}`, { key: ada.key }));
      expect((await admin('workspace', 'delete', '--workspace', 'Spare')).stdout).toBe(
        `workspace ${spare} is deleted\n`,
      );
      expect((await admin('workspace', 'list')).stdout).not.toContain(spare);
      await startedFor(async () => {
        const { data } = await api.expect<Data<{ id: string }[]>>(200, 'GET', '/v1/users/me/workspaces', {
          key: ada.key,
        });
        expect(data.map(({ id }) => id).sort()).toEqual([ada.workspace_id, research].sort());
        expect((await api.call('GET', `/v1/workspaces/${spare}`, { key: ada.key })).status).toBe(404);
      });
    }, 120_000);

    const member = (...args: readonly string[]): readonly string[] => ['member', ...args];
    it.each<[args: readonly string[], words: RegExp]>([
      [
        ['user', 'create', '--email', ADA],
        /--email: ada@example\.com is the address of user ada already: give another/,
      ],
      [
        ['user', 'create', '--email', 'ADA@example.com', '--username', 'eve'],
        /--email: email ADA@example\.com is the address of user ada: give another address/,
      ],
      [['user', 'create', '--email', 'ada@elsewhere.example'], /--username: username ada is taken: choose another/],
      [['user', 'create', '--email', 'ada'], /--email: email must be an address like name@host; got ada/],
      [['workspace', 'create', '--name', '', '--owner', ADA], /--name: the name of a workspace must be 1 to 255/],
      [['workspace', 'create', '--name', 'X', '--owner', 'adda'], /--owner: there is no user adda: did you mean ada\?/],
      [['workspace', 'rename', '--workspace', 'Labb', '--name', 'X'], /--workspace: .* Labb: did you mean Lab\?/],
      [
        ['workspace', 'delete', '--workspace', 'o_none'],
        /--workspace: there is no workspace o_none: give its id or name/,
      ],
      [
        member('add', '--workspace', 'Lab', '--email', 'eve@example.com'),
        /--email: there is no user eve@example\.com: the users are ada, bob, owner/,
      ],
      [
        member('change', '--workspace', 'Lab', '--email', 'bob', '--role', 'owner'),
        /--email: the workspace has no member/,
      ],
      [member('remove', '--workspace', 'Lab', '--email', 'bob'), /--email: the workspace has no member/],
      [
        member('add', '--workspace', 'Research', '--email', ADA, '--role', 'owner'),
        /--email: u_\w+ is in the workspace already, as member: change the role instead/,
      ],
      [['key', 'issue', '--user', 'eve'], /--user: there is no user eve/],
      [
        ['key', 'issue', '--user', 'ada', '--expires-in', '30'],
        /--expires-in must be a number with m, h, d or w .*got 30/,
      ],
      [['key', 'issue', '--user', 'ada', '--name', ''], /--name must be 1 to 100 characters/],
      [
        ['key', 'issue', '--user', 'ada', '--tool', 'a', '--tool', 'send mail'],
        /--tool: parameter tools\[1\] must be the name of a tool, .*got "send mail"/,
      ],
      [['key', 'revoke', 'key_nope'], /there is no API key key_nope/],
    ])('refuses %j, naming the field, the value and what to do', async (args, words) => {
      const told = await admin(...args);
      expect(told).toMatchObject({ status: 1, stdout: '' });
      expect(told.stderr).toMatch(words);
    });

    it.each([
      [['user', 'create'], /required option '--email <address>' not specified/],
      [
        member('add', '--workspace', 'Lab', '--email', 'bob', '--role', 'admin'),
        /'--role <role>' argument 'admin' is invalid\. Allowed choices are owner, member, read_only/,
      ],
      [member('change', '--workspace', 'Lab', '--email', ADA), /required option '--role <role>' not specified/],
    ])('ends with 2 for the wrong command line %j', async (args, words) => {
      const told = await admin(...args);
      expect(told).toMatchObject({ status: 2, stdout: '' });
      expect(told.stderr).toMatch(words);
    });
  });
});
