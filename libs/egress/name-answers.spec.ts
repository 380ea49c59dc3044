import { describe, expect, it } from '@jest/globals';
import { AddressPolicy } from './address-policy.js';
import { guardedLookup } from './guarded-lookup.js';
import { LookupTurns, RECORD_LOOKUPS, SYSTEM_LOOKUPS } from './lookup-turns.js';
import { answerLookup, type Names } from './name-answers.js';

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'open.test': ['93.184.216.34', '2606:2800:220:1::1'],
  'inner.test': ['10.0.0.7'],
  'mixed.test': ['93.184.216.34', '127.0.0.1'],
};

const world = (over: Partial<Names> = {}) => {
  const asked: string[] = [];
  const policy = new AddressPolicy([]);
  const lookup = guardedLookup(policy, (name) => {
    asked.push(name);
    const found = ADDRESSES[name];
    if (found === undefined) return Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }));
    return Promise.resolve(found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  });
  const names: Names = {
    policy,
    lookup: new LookupTurns(SYSTEM_LOOKUPS).lookupFor('o_1', lookup),
    workspaceId: 'o_1',
    turns: new LookupTurns(RECORD_LOOKUPS),
    records: (name, type) => Promise.resolve([`${type} of ${name}`]),
    ...over,
  };
  return {
    asked,
    answer: (line: string) => answerLookup(line, names, () => true).then((text) => JSON.parse(text) as unknown),
  };
};

/** docs/reference/component-model.md#name-lookups */
describe('a look-up of a component', () => {
  it('gives the addresses to which a connection would go', async () => {
    expect(await world().answer('LOOKUP ADDRESS open.test')).toEqual([
      { address: '93.184.216.34', family: 4 },
      { address: '2606:2800:220:1::1', family: 6 },
    ]);
    expect(await world().answer('LOOKUP ADDRESS 1.1.1.1')).toEqual([{ address: '1.1.1.1', family: 4 }]);
  });

  it('that finds nothing says how to connect where the outgoing proxy resolves names', async () => {
    const failure = (line: string, over: Partial<Names>): Promise<unknown> =>
      world(over)
        .answer(line)
        .catch((error: unknown) => error);
    expect(await failure('LOOKUP ADDRESS gone.test', { areElsewhere: true })).toMatchObject({
      code: 'ENOTFOUND',
      message: 'none: the outgoing proxy of this server resolves names, so connect by name',
    });
    expect(await failure('LOOKUP ADDRESS inner.test', { areElsewhere: true })).toMatchObject({
      code: 'EGRESS_REFUSED',
    });
    expect(await failure('LOOKUP ADDRESS gone.test', {})).toMatchObject({ message: 'none' });
  });

  it.each([
    'inner.test',
    'mixed.test',
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '::ffff:10.0.0.1',
    '169.254.169.254',
  ])('gives nothing for a name or address to which no connection would go: %s', async (host) => {
    const error = await world()
      .answer(`LOOKUP ADDRESS ${host}`)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'EGRESS_REFUSED' });
    expect(String(error)).not.toContain('10.0.0.7');
  });

  it.each([
    ['MX', 'open.test'],
    ['SRV', '_mongodb._tcp.open.test'],
    ['TXT', 'Open.Test.'],
    ['PTR', '34.216.184.93.in-addr.arpa'],
  ])('gives records %s of %s', async (type, name) => {
    expect(await world().answer(`LOOKUP ${type} ${name}`)).toEqual([
      `${type} of ${name.toLowerCase().replace(/\.$/, '')}`,
    ]);
  });

  it.each([
    ['PTR', '7.0.0.10.in-addr.arpa'],
    ['PTR', `1.${'0.'.repeat(31)}ip6.arpa`],
    ['PTR', '300.0.0.10.in-addr.arpa'],
    ['TXT', '7.0.0.10.in-addr.arpa'],
    ['SRV', '_ldap._tcp.corp'],
    ['TXT', 'db.internal'],
    ['MX', 'localhost'],
  ])('gives no records of the network of the server: %s of %s', async (type, name) => {
    await expect(world().answer(`LOOKUP ${type} ${name}`)).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
  });

  it.each(['LOOKUP', 'LOOKUP ADDRESS', 'LOOKUP any open.test', 'LOOKUP AXFR open.test', 'LOOKUP TXT a b'])(
    'must be a line of three words: %s',
    async (line) => {
      await expect(world().answer(line)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    },
  );
});

describe('turns of look-ups', () => {
  const held = () => {
    const ends: (() => void)[] = [];
    const started: string[] = [];
    const look = (name: string) => () => {
      started.push(name);
      return new Promise<string>((resolve) => ends.push(() => resolve(name)));
    };
    return { ends, started, look };
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('leave a thread to others while the names of one workspace are slow', async () => {
    const { ends, started, look } = held();
    const turns = new LookupTurns(SYSTEM_LOOKUPS);
    const slow = Array.from({ length: 20 }, (_, n) => turns.run('slow', () => true, look(`slow${n}`)));
    const other = turns.run('other', () => true, look('other'));
    await turn();
    expect(started).toEqual(['slow0', 'other']);
    ends[1]?.();
    expect(await other).toBe('other');
    for (let n = 0; n < 21; n++) {
      ends.forEach((end) => end());
      await turn();
    }
    expect(await Promise.all(slow)).toHaveLength(20);
  });

  it('refuse a workspace beyond its limit, and nobody else', async () => {
    const { ends, look } = held();
    const turns = new LookupTurns({ ...SYSTEM_LOOKUPS, held: 2 });
    const two = [turns.run('a', () => true, look('1')), turns.run('a', () => true, look('2'))];
    await expect(turns.run('a', () => true, look('3'))).rejects.toMatchObject({
      code: 'TOO_MANY_LOOKUPS',
      message: expect.stringContaining('2 look-ups of names of this workspace'),
    });
    const other = turns.run('b', () => true, look('4'));
    for (let n = 0; n < 3; n++) {
      await turn();
      ends.forEach((end) => end());
    }
    expect(await Promise.all([...two, other])).toEqual(['1', '2', '4']);
    await expect(Promise.resolve(turns.run('a', () => false, look('5')))).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('are shared by look-ups of one host at the same time', async () => {
    let count = 0;
    const lookup = new LookupTurns(SYSTEM_LOOKUPS).lookupFor('o_1', async () => {
      count++;
      await turn();
      return [{ address: '1.1.1.1', family: 4 }];
    });
    await Promise.all(Array.from({ length: 10 }, () => lookup('open.test')));
    expect(count).toBe(1);
    await lookup('open.test');
    expect(count).toBe(2);
  });
});
