import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '#test/harness/paths.js';

const run = promisify(execFile);

/** What a user sees, in 80 columns. */
const helpOf = async (path: readonly string[]): Promise<string> => {
  const cli = join(ROOT, 'dist/apps/cli/src/main.js');
  const { stdout } = await run(process.execPath, [cli, ...path, '--help'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH },
  });
  return stdout.trim();
};

/** Names of the commands in a help text, without `help` itself. */
const commandsIn = (help: string): readonly string[] => {
  const [, listed = ''] = /^Commands:\n([\s\S]*)/m.exec(help) ?? [];
  const names = [...listed.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name);
  return names.filter((name) => name !== 'help');
};

const sections = async (path: readonly string[]): Promise<readonly string[]> => {
  const help = await helpOf(path);
  const title = ['sluice', ...path].join(' ');
  const own = `<a id="${title.replaceAll(' ', '-')}"></a>\n\n${'#'.repeat(Math.min(path.length + 2, 4))} ${title}\n\n\`\`\`text\n${help}\n\`\`\`\n`;
  const below = await Promise.all(commandsIn(help).map((name) => sections([...path, name])));
  return [own, ...below.flat()];
};

/** Content of docs/reference/command-line.md. */
export const commandLineReference = async (): Promise<string> =>
  [
    '# Command line',
    '',
    'In a checkout, `npm run sluice -- <command>` runs the commands. In a container, the image takes `cli <command>`. Settings are [environment variables](config.md), the same as for the server. A command ends with status 0 when it succeeded, and otherwise says on standard error what went wrong. This page is generated from `--help`: `npm run docs:reference`.',
    '',
    ...(await sections([])),
  ].join('\n');
