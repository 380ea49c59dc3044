import { storedEvents } from '#libs/events/index.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { type PlatformEvents } from '#libs/platform-events/platform-events.js';
import { type CleanUpPorts, type ReactorPorts } from './contexts.js';
import { type RoleProcess } from './roles/role-process.js';
import { workflowTopics } from '#libs/runner/workflow/workflow-topics.js';
import { webhookTopics } from '#libs/delivery/webhook-topics.js';

type Process = Pick<RoleProcess, 'plane' | 'topics'>;

/** Ports of the reactions of all contexts. */
export const reactorPorts = (
  { plane, topics, platformEvents }: Process & { readonly platformEvents: Pick<PlatformEvents, 'publish'> },
  readYourWrites: ReadYourWrites,
): ReactorPorts => {
  const { engines, handleCommand, clock } = plane;
  const stored = storedEvents(engines.readModels);
  return {
    ...engines,
    handleCommand,
    clock,
    topics,
    workflowTopics: workflowTopics({ ...engines, topics }),
    readYourWrites,
    platformEvents,
    eventsIn: (...range) => stored.eventsIn(...range),
  };
};

/** Ports of the reactions that clean up stream read models. */
export const cleanUpPorts = ({ plane, topics }: Process): CleanUpPorts => {
  const { events, vault, log, due } = plane.engines;
  return { events, vault, topics, webhookTopics: webhookTopics(log, topics, due) };
};
