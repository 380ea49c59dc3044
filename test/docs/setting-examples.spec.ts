import { describe, expect, it } from '@jest/globals';
import { type Environment, loadConfig, SETTINGS, unknownSettings, WrongSettings } from '#libs/config/index.js';
import { settingExamples, settingNames } from './setting-examples.js';

/** Read by the tests, and by the commands that ask a server, and not by the server. */
const OTHERS = /^SLUICE_(?:TEST_|(?:URL|CONFIG|PROFILE)$)/;

const problemsOf = (env: Environment): readonly string[] => {
  try {
    loadConfig(env);
    return unknownSettings(env);
  } catch (error) {
    if (error instanceof WrongSettings) return error.problems;
    throw error;
  }
};

// docs/reference/config.md#engine-urls
describe('the settings that the documents show', () => {
  const examples = settingExamples().filter(({ name }) => !OTHERS.test(name));

  it('exist, also where no value is shown', () => {
    const known = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
    const shown = settingNames().filter(({ name }) => !OTHERS.test(name));
    expect(shown.filter(({ name }) => !known.has(name))).toEqual([]);
  });

  it('are found', () => {
    const shown = new Set(examples.map(({ name }) => name));
    const { eventStoreUrl, mongoUrl, kafkaBrokers, smtpUrl, smtpFrom, publicUrl, trustedProxies } = SETTINGS;
    for (const { name } of [eventStoreUrl, mongoUrl, kafkaBrokers, smtpUrl, smtpFrom, publicUrl, trustedProxies])
      expect(shown).toContain(name);
    expect(examples.length).toBeGreaterThan(30);
  });

  it.each(examples.map((example) => [`${example.name}=${example.value}`, example] as const))(
    '%s is accepted',
    (_name, { name, value, page, line }) => {
      // The setting is checked alone, without the others that it depends on.
      const alone = problemsOf({ [name]: value }).filter((text) => !text.includes('is not given'));
      const without = alone.filter((text) => !/ is given without /.test(text));
      expect({ page, line, problems: without }).toEqual({ page, line, problems: [] });
    },
  );
});
