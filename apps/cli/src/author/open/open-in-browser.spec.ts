import { describe, expect, it } from '@jest/globals';
import { openerOf } from './open-in-browser.js';

describe('the program that opens addresses', () => {
  it.each([
    ['darwin', {}, ['open']],
    ['win32', {}, ['rundll32', 'url.dll,FileProtocolHandler']],
    ['linux', { DISPLAY: ':0' }, ['xdg-open']],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open']],
    ['linux', { DISPLAY: '' }, []],
    ['freebsd', {}, []],
  ] as const)('on %s with %j is %j', (platform, env, opener) => {
    expect(openerOf(platform, env)).toEqual(opener);
  });
});
