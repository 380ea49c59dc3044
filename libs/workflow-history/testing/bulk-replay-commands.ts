import { systemClock } from '#libs/kernel/clock.js';
import { commandHandler, type HandleCommand } from '#libs/kernel/handle-command.js';
import { InMemoryEventStore } from '#libs/kernel/testing/in-memory-event-store.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { BulkReplaysView } from '../bulk/bulk-replays-view.js';

/** Commands on a log in memory, with a view that has applied each of them before it resolves. */
export const bulkReplayCommands = (clock = systemClock) => {
  const store = new InMemoryEventStore();
  const handle = commandHandler({ store, upcasters: new Upcasters() });
  const bulkReplays = new BulkReplaysView(clock);
  const handleCommand: HandleCommand = async (decider, id, command, context) => {
    const result = await handle(decider, id, command, context);
    const last = [];
    for await (const event of store.read(`${decider.category}-${id}`)) last.push(event);
    for (const event of last.slice(last.length - result.events.length)) bulkReplays.apply(event);
    return result;
  };
  return { store, bulkReplays, handleCommand };
};
