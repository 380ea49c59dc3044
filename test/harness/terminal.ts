import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CLI } from './command-line.js';

export interface Answer {
  /** What is on the screen when the answer is typed. */
  readonly to: RegExp;
  readonly type: string;
  /** Happens before that. */
  readonly before?: () => void;
}

export interface Screen {
  readonly status: number | null;
  /** All that was written to the terminal, with its escapes. */
  readonly shown: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Runs a command line in a pseudo terminal, and types each answer once its question is shown. */
export const inTerminal = async (
  args: readonly string[],
  answers: readonly Answer[],
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<Screen> => {
  const command = [process.execPath, CLI, ...args].map(quoted).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { TERM: 'xterm-256color', ...env, SHELL: '/bin/sh' },
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: 60_000,
  });
  let [shown, asked, next] = ['', '', 0];
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    asked += chunk.toString();
    const answer = answers[next];
    if (!answer?.to.test(textOn(asked))) return;
    [asked, next] = ['', next + 1];
    answer.before?.();
    child.stdin.write(answer.type);
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, shown };
};

/** Of the terminal's output, what a person reads. */
export const textOn = (shown: string): string =>
  shown.replaceAll(/\u001b\[[\d;?]*[A-Za-z]|\u001b\][^\u0007]*\u0007|\r/g, '');
