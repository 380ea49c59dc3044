import { afterEach, describe, expect, it } from '@jest/globals';
import { type DomainEvent, type RecordedEvent } from '#libs/kernel/events.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { type ErrorEmailsDoc, errorEmailsProjection } from '../read-models/error-emails.projection.js';
import { LeftMembersReactor } from './left-members.reactor.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const on = (sourceId: string, userId: string): DomainEvent => ({
  type: 'ErrorEmailsSwitchedOn',
  data: { sourceId, userId, switchedOnAt: 1 },
});
const removed: DomainEvent = { type: 'WorkspaceMemberRemoved', data: { userId: 'u_1', removedAt: 2 } };

const world = async () => {
  const plane = await ControlPlane.start({ projections: [errorEmailsProjection] });
  closing.push(() => plane.stop());
  const { readModels } = plane;
  const reactor = new LeftMembersReactor(plane.ports());
  const recipients = async (): Promise<Record<string, string>> => {
    const page = await readModels.page<ErrorEmailsDoc>(errorEmailsProjection.schema, { where: {}, limit: 10 });
    return Object.fromEntries(page.docs.map(({ id, userId }) => [id, userId]));
  };
  return { plane, reactor, recipients };
};

const leaves = async (plane: ControlPlane): Promise<RecordedEvent> => {
  await plane.happened('workspace-o_1', removed);
  const [event] = await plane.eventsOf('workspace-o_1');
  if (!event) throw new Error('it is not in the log');
  return event;
};

// docs/reference/rest-api.md#error-emails
describe('the emails of a member who leaves', () => {
  it('end in that workspace alone, for that user alone, also when the event comes twice', async () => {
    const { plane, reactor, recipients } = await world();
    await plane.happened('error_emails-dc_1', on('dc_1', 'u_1'), 'o_1');
    await plane.happened('error_emails-dc_2', on('dc_2', 'u_2'), 'o_1');
    await plane.happened('error_emails-dc_3', on('dc_3', 'u_1'), 'o_2');
    const left = await leaves(plane);
    await reactor.handle(left);
    await reactor.handle(left);
    await plane.idle();
    expect(await recipients()).toEqual({ dc_2: 'u_2', dc_3: 'u_1' });
  });

  it('stay on when the user came back and switched them on before the event was handled', async () => {
    const { plane, reactor, recipients } = await world();
    const left = await leaves(plane);
    await plane.happened('error_emails-dc_1', on('dc_1', 'u_1'), 'o_1');
    await reactor.handle(left);
    await plane.idle();
    expect(await recipients()).toEqual({ dc_1: 'u_1' });
  });
});
