import { type Config } from './settings.js';

/** Common words in keys that people choose. The rest of a key must be long and varied. */
const WORDS =
  /change|me|pass(?:word|wort)?|secret|example|default|sample|demo|test|admin|root|owner|user|sluice|my|first|new|api|key|token|letmein|welcome|qwertz?y?|asdf|dev|local|prod|123456?7?8?9?0?|abcdef?g?h?/gi;
const MIN_CHARACTERS = 10;
const MIN_DISTINCT = 6;

/**
 * Returns a warning for a SLUICE_API_KEY that is easy to guess, without its text. A server that only this machine
 * reaches is exempt, because the tour starts one with a published key. A public URL indicates a proxy in front of it.
 */
export const weakApiKey = ({
  apiKey,
  host,
  publicUrl,
}: Pick<Config, 'apiKey' | 'host' | 'publicUrl'>): string | undefined => {
  if (apiKey === null || !isWeak(apiKey)) return undefined;
  if (isLoopback(host) && (publicUrl === null || isLoopback(new URL(publicUrl).hostname))) return undefined;
  return (
    `SLUICE_API_KEY is easy to guess (${reasonOf(apiKey)}), and a guess gives everything that the owner has: ` +
    `set it to a random text, such as the output of \`openssl rand -hex 20\`, and revoke the former key`
  );
};

export const isWeak = (key: string): boolean => {
  const rest = restOf(key);
  return rest.length < MIN_CHARACTERS || new Set(rest).size < MIN_DISTINCT || runsOf(rest) > rest.length / 2;
};

const reasonOf = (key: string): string => {
  if (new Set(key).size < MIN_DISTINCT) return `it has only ${new Set(key).size} different characters`;
  const rest = restOf(key);
  return rest.length < MIN_CHARACTERS
    ? `only ${rest.length} of its ${key.length} characters are no common words`
    : 'it follows a pattern';
};

const restOf = (key: string): string => key.replace(WORDS, '').replace(/[^A-Za-z0-9]/g, '');

/** Number of characters that only continue a run, as in `abcd`, `9876` or `aaaa`. */
const runsOf = (text: string): number => {
  let runs = 0;
  for (let i = 1; i < text.length; i++) {
    const step = text.charCodeAt(i) - text.charCodeAt(i - 1);
    if (Math.abs(step) <= 1) runs++;
  }
  return runs;
};

const isLoopback = (host: string): boolean => host === 'localhost' || /^(127(\.\d+){3}|\[?::1\]?)$/.test(host);
