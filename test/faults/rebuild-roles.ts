import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ApiClient, type Source } from '#test/harness/api-client.js';
import { type Deployment } from '#test/harness/deployment.js';
import { ROOT } from '#test/harness/paths.js';
import { eventually } from '#test/harness/wait.js';
import { differences, readAnswers, type Answers } from './read-model-answers.js';

const STABLE_MS = 180_000;
const STABLE_POLL_MS = 1_500;

/** Waits until two consecutive reads give the same answers, which shows that the projections have caught up. */
const stableAnswers = async (read: () => Promise<Answers>): Promise<Answers> => {
  let last = await read();
  return eventually(
    'the read models come to rest',
    async () => {
      const now = await read();
      const same = differences(last, now).length === 0 && differences(now, last).length === 0;
      last = now;
      return same ? now : undefined;
    },
    STABLE_MS,
    STABLE_POLL_MS,
  );
};

/**
 * Rebuilds every read model with `sluice rebuild` while the projectors are stopped. Returns sentences about answers of
 * the API that changed. Restarts the projectors afterwards.
 */
export const rebuildProblems = async (
  { processes, dataDir, settings }: Deployment,
  api: ApiClient,
  sources: readonly Source[],
  webhookIds: readonly string[],
): Promise<string[]> => {
  const read = (): Promise<Answers> => readAnswers(api, sources, webhookIds);
  const before = await stableAnswers(read);
  await Promise.all(processes.projector.map((server) => server.stop()));
  await promisify(execFile)(process.execPath, [join(ROOT, 'dist/apps/cli/src/main.js'), 'rebuild'], {
    env: { PATH: process.env.PATH ?? '', SLUICE_DATA_DIR: join(dataDir, 'rebuild'), ...settings },
    cwd: dataDir,
    maxBuffer: 16 * 1024 * 1024,
  });
  // Keeps processes from reading cached state.
  for (const server of processes['query-api']) await server.restart();
  const after = await read();
  await Promise.all(processes.projector.map((server) => server.start()));
  return differences(before, after);
};
