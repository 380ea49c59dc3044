import { accountAuths, AccountRefresher, type PostForm, TokenRefused } from '#libs/accounts/index.js';
import { type Config } from '#libs/config/index.js';
import { type Egress } from '#libs/egress/guarded-dispatcher.js';
import { PostFailed, postForm } from '#libs/egress/post-form.js';
import { type AccountAuths } from '#libs/runner/runner-ports.js';
import { type Logger } from '#libs/telemetry/index.js';
import { type ControlPlane } from './control-plane.js';

export interface AccountAuthsOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  readonly egress: Pick<Egress, 'dispatcher'>;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  /** Longest wait for a refresh by another process. Default: what a caller of the API may wait. */
  readonly waitMs?: number;
}

/** docs/reference/limits.md#account-token-server */
const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 10_000;

/** Credentials of accounts for the processes that bind props. Token servers are reached through the egress guard. */
export const authsOf = ({ config, plane, egress, log, waitMs }: AccountAuthsOptions): AccountAuths => {
  const { engines, views, clock, handleCommand } = plane;
  const { vault } = engines;
  const env = { allowed: config.accountEnv, values: process.env };
  const post = tokenServers(egress);
  const deps = { view: views.accounts, handleCommand, vault, clock, env, post, logger: log };
  const refresher = new AccountRefresher(waitMs === undefined ? deps : { ...deps, waitMs });
  return accountAuths(views.accounts, vault, env, refresher);
};

/** Posts to token servers. Reads the dispatcher at the post only, because a process that serves reads has none. */
export const tokenServers =
  (egress: Pick<Egress, 'dispatcher'>, limits = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }): PostForm =>
  async (url, form) => {
    try {
      return await postForm(url, form, { dispatcher: egress.dispatcher, ...limits });
    } catch (error) {
      if (error instanceof PostFailed) throw new TokenRefused(error.message, false);
      throw error;
    }
  };
