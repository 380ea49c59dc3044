import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI, runNode } from '#test/harness/command-line.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { openSluice } from './targets.js';

const ROUNDS = 3;

interface ApplyFigures {
  readonly workflows: number;
  readonly secondsToCreate: number;
  /** Of each later command, which changes nothing. */
  readonly secondsUnchanged: readonly number[];
}

/** Applies a folder of many workflows of two code steps each, which it creates and then finds unchanged. */
export const applyFigures = async (workflows: number): Promise<ApplyFigures> => {
  const installation = await openSluice();
  const dir = tempDir('applied');
  try {
    for (let n = 0; n < workflows; n++) writeWorkflow(join(dir, `workflow-${n}`), n);
    const { apiKey, url } = installation.server;
    const env = { PATH: process.env.PATH, SLUICE_API_KEY: apiKey, SLUICE_URL: url };
    const seconds = async (state: string): Promise<number> => {
      const began = performance.now();
      const { status, stdout, stderr } = await runNode([CLI, 'workflows', 'apply', dir], env, dir);
      const took = (performance.now() - began) / 1_000;
      const count = stdout.split('\n').filter((line) => line.endsWith(`: ${state}`)).length;
      if (status !== 0 || count !== workflows) throw new Error(`${count} of ${workflows} are ${state}: ${stderr}`);
      return took;
    };
    const secondsToCreate = await seconds('created');
    const secondsUnchanged: number[] = [];
    for (let round = 0; round < ROUNDS; round++) secondsUnchanged.push(await seconds('unchanged'));
    return { workflows, secondsToCreate, secondsUnchanged };
  } finally {
    removeDir(dir);
    await installation.close();
  }
};

const writeWorkflow = (dir: string, n: number): void => {
  mkdirSync(join(dir, 'read'), { recursive: true });
  const read = `export default { run({ steps }) { return steps.trigger.event.body.orders?.length ?? ${n} } };\n`;
  writeFileSync(join(dir, 'read', 'entry.js'), read);
  const definition = `name: Workflow ${n}
triggers:
  - type: http
steps:
  - namespace: read
    uses: ./read/entry.js
  - namespace: told
    if: steps.read.$return_value > 0
    code: export default { run({ $ }) { $.export('$summary', 'done') } }
`;
  writeFileSync(join(dir, 'workflow.yaml'), definition);
};
