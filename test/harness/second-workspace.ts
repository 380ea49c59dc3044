import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient } from './api-client.js';
import { ROOT } from './paths.js';
import { type TestServer } from './server.js';

/** A second user with a separate workspace, beside the instance's owner. */
export interface SecondWorkspace {
  readonly api: ApiClient;
  readonly workspaceId: string;
  readonly apiKey: string;
}

/**
 * Creates the user on the command line, for which the server stops and starts again. Close its client after the test.
 */
export const addWorkspace = async (
  { server }: { readonly server: TestServer },
  username: string,
): Promise<SecondWorkspace> => {
  await server.stop();
  const cli = join(ROOT, 'dist/apps/cli/src/main.js');
  const env = { ...server.settings, PATH: process.env.PATH };
  const args = [cli, 'user', username, '--email', `${username}@example.com`];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  await server.restart();
  const apiKey = /API key[^:]*: (\S+)/.exec(stdout)?.[1] ?? '';
  const workspaceId = /\bo_\w+/.exec(stdout)?.[0] ?? '';
  if (apiKey === '' || workspaceId === '') throw new Error(`the command line told no key or workspace: ${stdout}`);
  const target = {
    get url() {
      return server.url;
    },
    apiKey,
  };
  return { api: new ApiClient(target), workspaceId, apiKey };
};
