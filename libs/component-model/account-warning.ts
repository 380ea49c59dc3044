import { type Warning } from '#libs/kernel/warning.js';
import { type ConfigurableProp } from './component-metadata.js';

/** An app may need no account, so a prop without one is accepted. */
export const noAccount = ({ name, app }: Pick<ConfigurableProp, 'name' | 'app'>): Warning => ({
  code: 'no_account',
  message: `prop ${name} (app) names no account, so $auth of it is empty: unless ${app === undefined ? 'the app' : JSON.stringify(app.slice(0, 100))} needs none, connect one with POST /v1/accounts, and give {"authProvisionId": its id} as the value`,
  path: `configured_props.${name}`,
});

/** Warnings about the app props that a call gives no account to. */
export const accountWarnings = (
  props: readonly ConfigurableProp[],
  values: Readonly<Record<string, unknown>>,
): readonly Warning[] =>
  props
    .filter(({ name, type, default: preset }) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      return type === 'app' && (value ?? preset ?? undefined) === undefined;
    })
    .map(noAccount);
