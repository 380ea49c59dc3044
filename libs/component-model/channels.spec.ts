import { describe, expect, it } from '@jest/globals';
import { channelFault } from '#libs/sandbox/protocol/run-names.js';
import { MAX_CHANNEL_BYTES, tooManyBytes } from './channels.js';

describe('the length of a channel name', () => {
  it.each([
    ['a'.repeat(1_024), undefined],
    ['a'.repeat(1_025), 1_025],
    ['ä'.repeat(512), undefined],
    ['ä'.repeat(513), 1_026],
    ['€'.repeat(341), undefined],
    ['€'.repeat(342), 1_026],
    ['', undefined],
  ])('is counted in UTF-8 bytes, for $emit as for subscriptions', (name, bytes) => {
    expect(tooManyBytes(name)).toBe(bytes);
    const fault = channelFault(name);
    if (bytes === undefined) expect(fault).toBeUndefined();
    else expect(fault).toContain(`at most ${MAX_CHANNEL_BYTES} bytes, this one has ${bytes}`);
  });
});
