import { describe, expect, it } from '@jest/globals';
import { positionOf } from './events.js';
import {
  agreementAfter,
  FORMS,
  FormsOnceSeen,
  isAgreed,
  NO_AGREEMENT,
  SEEN_MS,
  SETTLED_MS,
  type Agreement,
} from './forms.js';
import { type ProcessReport } from './process-registry.js';

interface Process {
  readonly id: string;
  readonly reads?: readonly string[];
}

const own: Process = { id: 'own', reads: FORMS };
const other: Process = { id: 'other', reads: [...FORMS, 'a form of a later release'] };
const old: Process = { id: 'old' };
const [form] = FORMS;

/** Looks once a second at the processes that live then. */
const seen = (looks: readonly (readonly Process[])[]): { agreement: Agreement; now: number } =>
  looks.reduce(
    ({ agreement, now }, live) => ({ agreement: agreementAfter(agreement, live, own.id, now), now: now + 1_000 }),
    {
      agreement: NO_AGREEMENT,
      now: 50_000,
    },
  );
const times = (count: number, live: readonly Process[]): (readonly Process[])[] =>
  Array.from({ length: count }, () => live);
const agreed = (looks: readonly (readonly Process[])[], later = 0): boolean => {
  const { agreement, now } = seen(looks);
  return isAgreed(agreement, form, now - 1_000 + later);
};
const LONG = SETTLED_MS / 1_000 + 1;

describe('the forms that a command may write', () => {
  const report = ({ id, reads }: Process): ProcessReport => ({
    id,
    role: 'router',
    position: positionOf(0),
    backlog: 0,
    ...(reads && { reads }),
  });

  it.each<[string, boolean, readonly Process[]]>([
    ['are all when no process lives, as at an import', true, []],
    ['are those that every process reads', true, [own, other]],
    ['are none beside a process of an earlier release', false, [own, old]],
  ])('%s', async (_, expected, live) => {
    const forms = new FormsOnceSeen();
    expect(forms.mayWrite(form)).toBe(false);
    await forms.look({ live: async () => live.map(report) });
    expect(forms.mayWrite(form)).toBe(expected);
  });
});

describe('a form that an earlier release cannot read', () => {
  it.each<[string, boolean, readonly (readonly Process[])[]]>([
    ['is not written before anybody was seen', false, []],
    ['is not written at once, because a process may just be restarting', false, times(LONG - 1, [own, other])],
    ['is written when all have read it for some time', true, times(LONG, [own, other])],
    ['is written when a later release, which reads more, takes part', true, times(LONG, [own, other])],
    ['is not written beside a process that announces nothing', false, times(LONG, [own, other, old])],
    ['is not written beside one that announces other forms', false, times(LONG, [own, { id: 'x', reads: ['else'] }])],
    ['is not written by one that does not see itself', false, times(LONG, [other])],
    ['is not written when nobody is seen', false, times(LONG, [])],
    ['is no longer written as soon as one without it starts', false, [...times(LONG, [own]), [own, old]]],
    ['waits again after that one has ended', false, [...times(LONG, [own]), [own, old], ...times(LONG - 1, [own])]],
    ['is written again some time after that', true, [...times(LONG, [own]), [own, old], ...times(LONG, [own])]],
  ])('%s', (_, expected, looks) => {
    expect(agreed(looks)).toBe(expected);
  });

  it('is no longer written when the others were not seen for a while, and then waits again', () => {
    const { agreement, now } = seen(times(LONG, [own, other]));
    const last = now - 1_000;
    expect(isAgreed(agreement, form, last + SEEN_MS)).toBe(true);
    expect(isAgreed(agreement, form, last + SEEN_MS + 1)).toBe(false);
    const back = agreementAfter(agreement, [own, other], own.id, last + SEEN_MS + 1);
    expect(isAgreed(back, form, last + SEEN_MS + 1)).toBe(false);
    expect(isAgreed(agreementAfter(agreement, [own, other], own.id, last + SEEN_MS), form, last + SEEN_MS)).toBe(true);
  });
});
