import { type KeyObject } from 'node:crypto';
import { type StepUrls } from '#libs/component-model/step-run.js';
import { type NamedExecution, runToken } from './run-token.js';

/** Makes the addresses that end a wait. The role `ingress` serves them (docs/adr/0075). */
export const runUrls = (key: KeyObject, publicUrl: string): ((named: NamedExecution) => StepUrls) => {
  const base = publicUrl.replace(/\/+$/, '');
  return (named) => urlsBelow(`${base}/r/${runToken(key, named)}`);
};

export const urlsBelow = (base: string): StepUrls => ({
  resume_url: `${base}/resume`,
  cancel_url: `${base}/cancel`,
  confirm_url: `${base}/confirm`,
});
