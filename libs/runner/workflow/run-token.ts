import { type KeyObject, sign, verify } from 'node:crypto';

/** What a token of run URLs names (docs/adr/0075). */
export interface NamedExecution {
  readonly workflowId: string;
  readonly runId: string;
  /** The execution whose wait the URLs end. A crash does not change its number. */
  readonly execution: number;
}

/** The ids without their prefixes, the number of the execution, and the signature of that. */
const TOKEN = /^(([0-9a-z]{18})([0-9a-z]{18})([1-9a-z][0-9a-z]{0,6}))\.([\w-]{86})$/;

/** A repeated execution gets the same token, because Ed25519 signatures are deterministic. */
export const runToken = (key: KeyObject, { workflowId, runId, execution }: NamedExecution): string => {
  const named = `${bare(workflowId)}${bare(runId)}${execution.toString(36)}`;
  return `${named}.${sign(null, Buffer.from(named), key).toString('base64url')}`;
};

/**
 * Returns what a token names, or undefined for one that this installation has not signed. The check compares with no
 * secret, so its time tells nothing.
 */
export const executionNamedBy = (key: KeyObject, token: string): NamedExecution | undefined => {
  const [, named = '', workflow = '', run = '', execution = '', signature = ''] = TOKEN.exec(token) ?? [];
  if (named === '' || !verify(null, Buffer.from(named), key, Buffer.from(signature, 'base64url'))) return undefined;
  return { workflowId: `p_${workflow}`, runId: `run_${run}`, execution: parseInt(execution, 36) };
};

const bare = (id: string): string => id.slice(id.indexOf('_') + 1);
