import { describe, expect, it } from '@jest/globals';
import { lookup } from 'node:dns/promises';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

/** Hosts that resolve to this machine or to addresses of its own network. */
const INNER = [
  'localhost',
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '::1',
  '::ffff:127.0.0.1',
  '10.0.0.1',
  '169.254.169.254',
];

describe('look-ups of names by a component', () => {
  const instance = useInstance({ env: { SLUICE_EGRESS_ALLOW: undefined } });

  it('show no address to which the guard would not connect, in any spelling and by any function', async () => {
    // Control: without the guard the name leads to this machine.
    expect((await lookup('localhost')).address).toMatch(/^127\.|^::1$/);
    const code = componentCode({
      props: CUSTOM_HTTP,
      members: `async run(event) {
        const dns = require('node:dns');
        const results = [];
        const failed = (work) => Promise.resolve().then(work).then((found) => JSON.stringify(found), (e) => e.code);
        for (const host of event.body)
          for (const ask of [() => dns.promises.lookup(host, { all: true }), () => dns.promises.resolve4(host), () => new dns.promises.Resolver().resolve6(host), () => new Promise((resolve, reject) => dns.lookup(host, (e, a) => e ? reject(e) : resolve(a)))])
            results.push(await failed(ask));
        results.push(await failed(() => dns.promises.reverse('127.0.0.1')), await failed(() => dns.setServers(['127.0.0.1'])));
        let limit = 0;
        while (limit < 200 && (await failed(() => dns.promises.lookup('127.0.0.1'))) === 'EGRESS_REFUSED') limit++;
        this.http.respond({ status: 200, body: { results, limit } });
      },`,
    });
    const answer = await instance.post(await instance.deploy(code), INNER);
    const { results, limit } = JSON.parse(answer.text) as { results: string[]; limit: number };
    const asked = INNER.length * 4 + 1;
    expect(results.slice(0, asked)).toEqual(Array.from({ length: asked }, () => 'EGRESS_REFUSED'));
    expect(results[asked]).toBe('EACCES');
    expect(asked + limit).toBe(100);
  });
});
