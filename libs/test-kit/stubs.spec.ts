import { describe, expect, it } from '@jest/globals';
import { type Request, type Stub } from './published.js';
import { Stubs } from './stubs.js';

const reply = { status: 200 };
const request = (url: string, over: Partial<Request> = {}): Request => ({
  method: 'GET',
  url,
  headers: {},
  body: '',
  ...over,
});
const fits = (stub: Partial<Stub>, asked: Request): boolean =>
  new Stubs([{ url: /./, reply, ...stub }]).take(asked) !== undefined;
const ITEMS = 'https://api.example.com/items';

describe('a stub', () => {
  it.each<[string, Partial<Stub>, Request, boolean]>([
    ['every query without one of its own', { url: ITEMS }, request(`${ITEMS}?page=1`), true],
    ['its own query only', { url: `${ITEMS}?page=2` }, request(`${ITEMS}?page=1`), false],
    ['an address without its last slash', { url: 'https://a.example' }, request('https://a.example/'), true],
    ['no longer path', { url: ITEMS }, request(`${ITEMS}/1`), false],
    ['a pattern each time', { url: /items/g }, request(ITEMS), true],
    ['its method in any case', { method: 'post' }, request(ITEMS, { method: 'POST' }), true],
    ['no other method', { method: 'POST' }, request(ITEMS), false],
    ['a body with more', { body: { a: [1] } }, request(ITEMS, { body: { a: [1], b: 2 } }), true],
    ['no body with less', { body: { a: [1, 2] } }, request(ITEMS, { body: { a: [1] } }), false],
  ])('fits %s', (_, stub, asked, expected) => expect(fits(stub, asked)).toBe(expected));

  it('answers as often as it may, then the next one does', () => {
    const [first, second]: [Stub, Stub] = [
      { url: ITEMS, times: 1, reply },
      { url: ITEMS, reply },
    ];
    const stubs = new Stubs([first, second]);
    const taken = [1, 2, 3].map(() => stubs.take(request(ITEMS)));
    expect(taken.map((stub) => stub === first)).toEqual([true, false, false]);
  });
});

describe('a request without a stub', () => {
  it('is told with the nearest one, and why that does not fit', () => {
    const stubs = new Stubs([
      { url: 'https://other.example/', reply },
      { method: 'POST', url: ITEMS, body: { id: 1 }, times: 1, reply },
    ]);
    const post = request(ITEMS, { method: 'POST', body: { id: 2 } });
    expect(stubs.refusal(post)).toBe(
      `no stub answers POST ${ITEMS}. The nearest is POST ${ITEMS}, whose body is another: {"id":1}`,
    );
    stubs.take({ ...post, body: { id: 1 } });
    expect(stubs.refusal(post)).toContain('which answered 1 time already');
    expect(new Stubs([]).refusal(post)).toContain('has no stubs: give it { http: [{ url, reply }] }');
  });
});
