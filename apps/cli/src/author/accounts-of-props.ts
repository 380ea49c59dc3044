import { CommandFailure, wrongUsage } from './failure.js';
import { type Fields, fieldText } from './json.js';
import { readList } from './pages.js';
import { type Session } from './session.js';

const FORM = /^([A-Za-z_$][\w$]{0,99})=(.+)$/s;

/** Values of app props by `--account PROP=apn_…` or the exact name of an account. Rejects with CommandFailure. */
export const accountsOf = async (session: Session, given: readonly string[]): Promise<Fields> => {
  const values: [string, unknown][] = [];
  for (const each of given) {
    const [, prop, account] = FORM.exec(each) ?? [];
    if (prop === undefined || account === undefined) throw wrongUsage('--account must be prop=apn_… or prop=name');
    values.push([prop, { authProvisionId: await idOf(session, account) }]);
  }
  return Object.fromEntries(values);
};

const idOf = async (session: Session, account: string): Promise<string> => {
  if (/^apn_\w+$/.test(account)) return account;
  const path = `/v1/workspaces/${await session.workspaceId()}/accounts`;
  const { items } = await readList(session, path, { all: true });
  const [found, ...others] = items.filter(({ name }) => name === account);
  const shown = JSON.stringify(account.slice(0, 100));
  if (found === undefined)
    throw new CommandFailure({
      exit: 4,
      code: 'account_not_found',
      status: 404,
      message: `no account is called ${shown}. "sluice list accounts" shows all.`,
      next: 'sluice list accounts',
    });
  if (others.length === 0) return fieldText(found, 'id');
  throw new CommandFailure({
    exit: 2,
    code: 'usage',
    message: `several accounts are called ${shown}: give the id`,
    lines: [found, ...others].map((each) => `${fieldText(each, 'id')}  ${fieldText(each['app'], 'name_slug')}`),
  });
};
