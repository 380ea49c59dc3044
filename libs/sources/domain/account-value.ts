import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { accountIdOf, type PlannedProp } from '../published.js';
import { shown } from './prop-error.js';

/**
 * Throws source.invalid_prop for an account that does not exist in the workspace, or that belongs to another app than
 * the prop's (docs/reference/rest-api.md#configured-app).
 */
export const checkAccount = (
  { name, app }: ConfigurableProp,
  planned: PlannedProp,
  appOf: (accountId: string) => string | undefined,
): void => {
  const id = planned.kind === 'app' ? accountIdOf(planned.value) : undefined;
  if (id === undefined) return;
  const found = appOf(id);
  if (found !== undefined && (app === undefined || found.toLowerCase() === app.toLowerCase())) return;
  const why =
    found === undefined
      ? `there is no account ${shown(id)} in this workspace: GET /v1/accounts lists them, and POST /v1/accounts connects one`
      : `account ${shown(id)} belongs to the app ${shown(found)}, and the prop needs one of ${shown(app)}`;
  throw new DomainError('source.invalid_prop', `prop ${name} (app): ${why}`, { prop: name, actual: id.slice(0, 100) });
};
