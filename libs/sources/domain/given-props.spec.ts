import { describe, expect, it } from '@jest/globals';
import { type Warning } from '#libs/kernel/warning.js';
import { held, plan, planOf, prop, refusal } from '../testing/planned-props.js';

describe('a misspelt key', () => {
  const props = [prop('string', { name: 'feedUrl' }), prop('string', { name: 'limit', optional: true })];

  it('is named when the prop that it stands for is required', () => {
    const error = refusal(() => plan(props, { feed_url: 'https://a.example' }));
    expect(error).toMatchObject({ code: 'source.missing_prop', details: { prop: 'feedUrl', actual: 'feed_url' } });
    expect(error.message).toBe(
      'prop feedUrl (string) is missing in configured_props; did you mean it by feed_url? Its props are feedUrl, limit.',
    );
  });

  it('is a warning when the source works without it', () => {
    expect(plan(props, { feedUrl: 'x', limt: 3, other: 1 }).warnings).toEqual([
      {
        code: 'unknown_prop',
        message:
          'configured_props.limt is ignored, because the component has no such prop; did you mean limit? Its props are feedUrl, limit.',
        path: 'configured_props.limt',
      },
    ]);
    expect(plan(props, { feedUrl: 'x', limit: 'a', limt: 3 }).warnings).toEqual([]);
  });

  it('is looked for among a bounded number of keys', () => {
    const many = Object.fromEntries(
      Array.from({ length: 900 }, (_, i) => [`limt${i % 10}${'x'.repeat(i % 2)}${i}`, i]),
    );
    expect(plan(props, { feedUrl: 'x', ...many }).warnings.length).toBeLessThanOrEqual(50);
  });
});

describe('a refusal of a prop', () => {
  const url = prop('string', { name: 'url' });
  const about = (path: string, message: string): Warning => ({ code: 'misspelt_key', message, path });
  const refused = (componentWarnings: readonly Warning[], given: Record<string, unknown> = {}) =>
    refusal(() => planOf({ props: [url], given, componentWarnings }));

  // docs/reference/rest-api.md#configured-props-notes
  it('repeats the warnings about that prop, and no others', () => {
    const error = refused([
      about('props.other.optinal', 'prop "other": not this one'),
      about('props.urls', 'prop "urls": nor this one'),
      about(
        'props.url.optinal',
        'prop "url": "optinal" is not a key of a prop: "optional" is probably meant; allowed are type, label; it is ignored',
      ),
      about('props.url', '"url" is a prop and a method'),
    ]);
    expect(error).toMatchObject({ code: 'source.missing_prop', details: { prop: 'url' } });
    expect(error.message).toBe(
      'prop url (string) is required: give it in configured_props. Note: "optinal" is not a key of a prop: "optional" is probably meant. "url" is a prop and a method',
    );
  });

  // docs/reference/rest-api.md#configured-props-notes
  it('has at most three notes of 300 characters', () => {
    const many = Array.from({ length: 9 }, (_, n) => about(`props.url.k${n}`, `${n}${'x'.repeat(2_000)}`));
    const { message } = refused(many, { url: { deep: true } });
    expect(message).toMatch(/^prop url must be a string/);
    expect(message.length).toBeLessThan(1_100);
    expect(message).toContain('2xxx');
    expect(message).not.toContain('3xxx');
  });
});

describe('a stored value', () => {
  it('is accepted when it is sent back, also when nothing has it any more', () => {
    const props = [prop('app'), prop('data_store', { name: 'store' }), prop('$.interface.apphook', { name: 'hook' })];
    const before = [
      held('app', { value: { authProvisionId: 'apn_1' } }),
      held('data_store', { value: 'ds_1' }, 'store'),
    ];
    expect(plan(props, {}, before)).toMatchObject({ props: before, warnings: [] });
    expect(plan(props, { p: { authProvisionId: 'apn_1' }, store: 'ds_1' }, before)).toMatchObject({ props: before });
    expect(() => plan(props, { p: { authProvisionId: 'apn_2' } }, before)).toThrow(/no account "apn_2"/);
    const error = refusal(() => plan([prop('app')], { p: { authProvisionId: 'apn_1' } }));
    expect(error.code).toBe('source.invalid_prop');
    expect(error.message).toMatch(/prop p \(app\): there is no account "apn_1"/);
  });
});
