import { type Decider } from '#libs/kernel/decider.js';
import { type RunUrlKeyCreated } from '../published.js';

export type RunUrlKey = Pick<RunUrlKeyCreated['data'], 'secretRef' | 'publicKey'>;

/** One stream for the installation, so that of two processes that make a key at once both use the first one. */
export const RUN_URL_KEY = 'key';

/** Decides which key pair signs the tokens of run URLs. It never changes, because that would void every URL. */
export const runUrlKeyDecider: Decider<RunUrlKeyCreated['data'], RunUrlKeyCreated, RunUrlKey | undefined> = {
  category: 'runurls',
  initialState: () => undefined,
  decide: (data, state) => (state ? [] : [{ type: 'RunUrlKeyCreated', data }]),
  evolve: (_, { data: { secretRef, publicKey } }) => ({ secretRef, publicKey }),
};
