import { type Warning } from '#libs/kernel/warning.js';
import { type ConfigurableProp } from './component-metadata.js';

/** An app may need no account, so a prop without one is accepted. */
export const noAccount = ({ name, app }: Pick<ConfigurableProp, 'name' | 'app'>): Warning => ({
  code: 'no_account',
  message: `prop ${name} (app) names no account, so $auth of it is empty: unless ${app === undefined ? 'the app' : JSON.stringify(app.slice(0, 100))} needs none, connect one with POST /v1/accounts, and give {"authProvisionId": its id} as the value`,
  path: `configured_props.${name}`,
});

const unknownAccount = ({ name }: Pick<ConfigurableProp, 'name'>, id: string): Warning => ({
  code: 'no_account',
  message: `prop ${name} (app) names ${JSON.stringify(id.slice(0, 100))}, which is no account of this workspace, so $auth of it is empty, and a deployment would be refused: GET /v1/accounts lists those that there are, and POST /v1/accounts connects one`,
  path: `configured_props.${name}`,
});

/**
 * Warnings about the app props to which a call gives no account, or one that does not exist. `unknownIn` returns the id
 * in a value, when the workspace has no such account.
 */
export const accountWarnings = (
  props: readonly ConfigurableProp[],
  values: Readonly<Record<string, unknown>>,
  unknownIn: (value: unknown) => string | undefined,
): readonly Warning[] =>
  props.flatMap((prop) => {
    if (prop.type !== 'app') return [];
    const value = (Object.hasOwn(values, prop.name) ? values[prop.name] : undefined) ?? prop.default ?? undefined;
    if (value === undefined) return [noAccount(prop)];
    const id = unknownIn(value);
    return id === undefined ? [] : [unknownAccount(prop, id)];
  });
