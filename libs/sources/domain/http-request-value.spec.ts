import { describe, expect, it } from '@jest/globals';
import { held, plan, prop, refusal, valuesOf } from '../testing/planned-props.js';
import { SECRET_MASK } from './secret-mask.js';

const URL = 'https://a.example/x';

describe('the value of an http_request prop', () => {
  it.each<[unknown, string, RegExp]>([
    [{}, 'p.url', /prop p\.url must be an http or https URL/],
    [{ url: 'ftp://a' }, 'p.url', /must be an http or https URL/],
    [{ url: 'https://u:hunter2@a.example' }, 'p.url', /got "https:\/\/\*{8}@a.example"/],
    [{ url: URL, method: 'FETCH' }, 'p.method', /must be a method of HTTP, such as GET; got "FETCH"/],
    [{ url: URL, params: {} }, 'p.params', /must be an array of \{name, value\}; got object/],
    [{ url: URL, params: [1] }, 'p.params[0].name', /must be a text; got number/],
    [{ url: URL, headers: [{ name: 'a' }, { name: 'b', value: { x: 1 } }] }, 'p.headers[1].value', /got an object/],
    [{ url: URL, auth: 'token' }, 'p.auth', /must be an object of type/],
    [{ url: URL, auth: { type: 'digest' } }, 'p.auth.type', /one of none, basic, bearer; got "digest"/],
    [{ url: URL, auth: { type: 'basic', password: 5 } }, 'p.auth.password', /must be a text; got number/],
    [{ url: URL, auth: { token: SECRET_MASK } }, 'p.auth.token', /no secret is stored/],
    [{ url: URL, body: 'text' }, 'p.body', /must be an object of type/],
    [{ url: URL, body: { mode: 'file' } }, 'p.body.mode', /one of none, fields, raw; got "file"/],
    [{ url: URL, body: { raw: {} } }, 'p.body.raw', /must be a text; got an object/],
    [{ url: URL, body: { fields: [{ value: 1 }] } }, 'p.body.fields[0].name', /must be a text/],
  ])('%j is refused at %s', (value, field, message) => {
    const error = refusal(() => plan([prop('http_request')], { p: value }));
    expect(error).toMatchObject({ code: 'source.invalid_prop', details: { prop: field } });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('hunter2');
  });

  it('keeps what a form adds, and takes its default of method and url', () => {
    const value = { url: URL, method: 'get', tab: 'headers', headers: null, body: { raw: '' }, auth: { type: 'none' } };
    expect(plan([prop('http_request')], { p: value })).toMatchObject({ props: [held('http_request', { value })] });
    const byDefault = prop('http_request', { default: { method: 'GET', url: URL } });
    expect(valuesOf(plan([byDefault]))).toEqual({ p: { value: { method: 'GET', url: URL } } });
    expect(plan([prop('http_request', { optional: true })])).toMatchObject({ props: [] });
  });

  it('keeps its password and token in the vault, and masks them', () => {
    const auth = { type: 'basic', username: 'u', password: 'hunter2' };
    const planned = plan([prop('http_request')], { p: { url: URL, auth } });
    expect(planned.secrets).toEqual([{ ref: 'sec_1', text: '{"password":"hunter2"}' }]);
    const masked = { url: URL, auth: { ...auth, password: SECRET_MASK } };
    expect(valuesOf(planned)).toEqual({ p: { value: masked, secretRef: 'sec_1' } });
  });

  it('keeps a stored secret whose mask is sent back, or that is not named', () => {
    const value = { url: URL, auth: { type: 'bearer', token: SECRET_MASK } };
    const before = [held('http_request', { value, secretRef: 'sec_9' })];
    expect(plan([prop('http_request')], {}, before)).toMatchObject({
      props: before,
      secrets: [],
    });
    const moved = { ...value, url: `${URL}/2` };
    expect(plan([prop('http_request')], { p: moved }, before)).toMatchObject({
      props: [held('http_request', { value: moved, secretRef: 'sec_9' })],
      secrets: [],
    });
    const other = { ...value, auth: { type: 'bearer', token: 'new' } };
    expect(plan([prop('http_request')], { p: other }, before).secrets).toHaveLength(1);
    const gone = plan([prop('http_request')], { p: { url: URL } }, before);
    expect(valuesOf(gone)).toEqual({ p: { value: { url: URL } } });
  });
});
