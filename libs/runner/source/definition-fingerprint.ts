import { type SourceDefinition } from '#libs/sources/published.js';

const fingerprints = new WeakMap<SourceDefinition, string>();
/** Returns a text that is the same for definitions that run alike. */
export const fingerprint = (definition: SourceDefinition): string => {
  let text = fingerprints.get(definition);
  if (text === undefined) {
    text = JSON.stringify(definition);
    fingerprints.set(definition, text);
  }
  return text;
};
