import { describe, expect, it } from '@jest/globals';
import { networkInterfaces } from 'node:os';
import { AddressPolicy, EgressRefused } from './address-policy.js';
import { ownAddresses } from './own-addresses.js';

const REFUSED: readonly (readonly [string, string])[] = [
  ['0.0.0.0', 'unspecified'],
  ['0.255.1.2', 'unspecified'],
  ['10.0.0.0', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.1', 'carrier-grade NAT'],
  ['100.127.255.255', 'carrier-grade NAT'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'cloud metadata'],
  ['169.254.170.2', 'cloud metadata'],
  ['100.100.100.200', 'cloud metadata'],
  ['168.63.129.16', 'cloud metadata'],
  ['192.0.0.192', 'cloud metadata'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.8', 'reserved'],
  ['192.0.2.1', 'documentation'],
  ['192.31.196.1', 'reserved'],
  ['192.52.193.1', 'reserved'],
  ['192.88.99.1', 'reserved'],
  ['192.168.255.255', 'private'],
  ['192.175.48.1', 'reserved'],
  ['198.18.0.1', 'benchmarking'],
  ['198.19.255.255', 'benchmarking'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.254', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['[::1]', 'loopback'],
  ['::127.0.0.1', 'reserved'],
  ['::7f00:1', 'reserved'],
  ['::8.8.8.8', 'reserved'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:169.254.169.254', 'cloud metadata'],
  ['::ffff:0:10.0.0.1', 'private'],
  ['64:ff9b::10.0.0.1', 'private'],
  ['64:ff9b::a9fe:a9fe', 'cloud metadata'],
  ['64:ff9b:1::1', 'local translation'],
  ['100::1', 'reserved'],
  ['2001:0:7f00:1::', 'loopback'], // Teredo server
  ['2001:0:808:808:0:0:80ff:fffe', 'loopback'], // Teredo client, inverted
  ['2001:2::1', 'benchmarking'],
  ['2001:db8::1', 'documentation'],
  ['2001:10::1', 'reserved'],
  ['2001:20::1', 'reserved'],
  ['2002:7f00:1::', 'loopback'],
  ['2002:a00:1::1', 'private'],
  ['2606:4700::5efe:10.0.0.1', 'private'], // ISATAP
  ['2606:4700::200:5efe:127.0.0.1', 'loopback'],
  ['2620:4f:8000::1', 'reserved'],
  ['3fff::1', 'documentation'],
  ['4000::1', 'reserved'],
  ['5f00::1', 'reserved'],
  ['fc00::1', 'private'],
  ['fd00:ec2::254', 'cloud metadata'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['fec0::1', 'private'],
  ['ff02::1', 'multicast'],
  ['0x7f.1', 'not an IP'],
  ['localhost', 'not an IP'],
  ['', 'not an IP'],
];

const PERMITTED = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001::200e',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
];

describe('AddressPolicy', () => {
  const policy = new AddressPolicy();

  it.each(REFUSED)('refuses %s: %s', (address, reason) => {
    expect(policy.refusal(address)).toContain(reason);
  });

  it.each(PERMITTED)('permits %s', (address) => {
    expect(policy.refusal(address)).toBeUndefined();
  });

  it.each([
    ['10.1.2.3', '10.1.2.3', 'because it is a private address', 'SLUICE_EGRESS_ALLOW=10.1.2.3/32'],
    ['[::1]', '::1', 'because it is a loopback address', 'SLUICE_EGRESS_ALLOW=::1/128'],
    ['0x7f.1', '127.0.0.1', 'because it is a loopback address', 'SLUICE_EGRESS_ALLOW=127.0.0.1/32'],
    ['0.0.0.0', '0.0.0.0', 'because it is an unspecified address', 'SLUICE_EGRESS_ALLOW=0.0.0.0/32'],
  ])('explains %s, which the user wrote as an address', (host, address, reason, entry) => {
    expect(() => policy.check(host, address)).toThrow(
      `refused to connect to ${host}: an address that is not allowed, ${reason}. The operator of this server can allow it with ${entry}`,
    );
  });

  it('explains localhost only where it leads to a loopback address', () => {
    const explained = 'localhost: an address that is not allowed, because it is a loopback address. ';
    expect(() => policy.check('localhost', '::1')).toThrow(explained);
    expect(() => policy.check('localhost', '10.0.0.1')).toThrow('localhost: an address that is not allowed. ');
  });

  it('hides that an address which the user wrote is one of this machine', () => {
    const own = new AddressPolicy([], { ownAddresses: () => ['8.8.8.8'] });
    expect(() => own.check('8.8.8.8', '8.8.8.8')).toThrow('8.8.8.8: an address that is not allowed. ');
  });

  it('tells the user the host and the setting, but nothing about the address', () => {
    const check = (): void => policy.check('intranet.example', '::ffff:10.1.2.3');
    expect(check).toThrow(EgressRefused);
    expect(check).toThrow(
      /^refused to connect to intranet\.example: an address that is not allowed\. The operator of this server can allow it with SLUICE_EGRESS_ALLOW$/,
    );
    // For the operator's log.
    expect(check).toThrow(
      expect.objectContaining({
        code: 'EGRESS_REFUSED',
        host: 'intranet.example',
        address: '::ffff:10.1.2.3',
        reason: 'private address',
        allowEntry: '10.1.2.3/32',
      }),
    );
  });
});

describe('AddressPolicy for the machine itself', () => {
  const machine = ['127.0.0.1', '198.41.0.4', '2001:500:2f:0:0:0:0:f', 'fe80::1%eth0'];
  const own = { ownAddresses: () => machine };

  it.each(['198.41.0.4', '::ffff:198.41.0.4', '2001:500:2f::f', '64:ff9b::198.41.0.4', '2002:c629:4::1'])(
    'refuses %s, its own, though it is public',
    (address) => {
      expect(new AddressPolicy([], { ownAddresses: () => [] }).refusal(address)).toBeUndefined();
      expect(new AddressPolicy([], own).refusal(address)).toBe('address of this machine');
    },
  );

  it('permits its neighbours, and itself when the operator names it', () => {
    expect(new AddressPolicy([], own).refusal('198.41.0.5')).toBeUndefined();
    expect(new AddressPolicy(['198.41.0.4/32'], own).refusal('198.41.0.4')).toBeUndefined();
  });

  it('refuses the current addresses of the interfaces', () => {
    const addresses: string[] = [];
    const policy = new AddressPolicy([], { ownAddresses: () => addresses });
    expect(policy.refusal('198.41.0.4')).toBeUndefined();
    addresses.push('198.41.0.4');
    expect(policy.refusal('198.41.0.4')).toBe('address of this machine');
  });

  it('asks the system for its interfaces', () => {
    const all = Object.values(networkInterfaces()).flatMap((some) => (some ?? []).map(({ address }) => address));
    expect(all.length).toBeGreaterThan(0);
    expect(ownAddresses()).toEqual(all);
    for (const address of all) expect(new AddressPolicy().refusal(address)).toBeDefined();
  });
});

describe('AddressPolicy with an allow-list', () => {
  it.each([
    ['10.0.0.0/8', '10.2.3.4', '11.0.0.1', true],
    ['127.0.0.1', '127.0.0.1', '127.0.0.2', false],
    ['127.0.0.0/8', '::ffff:127.0.0.1', '::1', false],
    ['::1', '::1', '127.0.0.1', false],
    ['fd12::/16', 'fd12::1', 'fd13::1', false],
    ['::ffff:192.168.0.0/112', '192.168.9.9', '192.169.0.1', true],
    ['64:ff9b:1::/48', '64:ff9b:1::5', '64:ff9b:2::5', false],
  ])('%s opens %s and leaves %s as it was', (entry, opened, other, permitted) => {
    const policy = new AddressPolicy([entry, '']);
    expect(policy.refusal(opened)).toBeUndefined();
    expect(policy.refusal(other) === undefined).toBe(permitted);
  });

  it('opens metadata by an exact entry only', () => {
    for (const wide of ['0.0.0.0/0', '169.254.0.0/16']) {
      expect(new AddressPolicy([wide]).refusal('169.254.169.254')).toBe('cloud metadata address');
    }
    expect(new AddressPolicy(['169.254.169.254/32']).refusal('169.254.169.254')).toBeUndefined();
  });

  it.each(['10.0.0.0/33', 'localhost', '10.0.0', '10/8', '0x7f.0.0.1/8', 'fd00::/129'])(
    'refuses %s by name',
    (entry) => {
      expect(() => new AddressPolicy([entry])).toThrow(`SLUICE_EGRESS_ALLOW: "${entry}"`);
    },
  );

  it.each([
    ['10.0.0.1', '10.0.0.1/32'],
    ['127.0.0.1', '127.0.0.1/32'],
    ['[::1]', '::1/128'],
    ['localhost', undefined],
  ])('tells without a lookup that a URL with the host %s will be refused', (host, entry) => {
    const told: unknown[] = [];
    const refused = new AddressPolicy([], { onRefused: (one) => told.push(one) }).refusalOfHost(host);
    expect(refused?.message).toContain('The operator of this server can allow it with SLUICE_EGRESS_ALLOW');
    if (entry !== undefined) expect(refused?.message).toMatch(new RegExp(`=${entry}$`));
    // Nothing was refused yet, so the operator's log has no line.
    expect(told).toEqual([]);
    expect(new AddressPolicy(['10.0.0.0/8', '127.0.0.0/8', '::1/128']).refusalOfHost(host)).toBeUndefined();
  });

  it.each(['example.com', '93.184.216.34', '[2606:2800:220:1::1]', 'intranet'])('tells nothing of %s', (host) => {
    expect(new AddressPolicy([], { ownAddresses: () => [] }).refusalOfHost(host)).toBeUndefined();
  });
});
