import { CommandFailure } from '../failure.js';
import { formOf } from '../deployment.js';
import { type Component, saveFiles } from '../components.js';
import { exactLine, type Fields, isFields, jsonLine, objectsIn } from '../json.js';
import { observationLine } from '../observations.js';
import { type Followed, onEachSave } from './followed.js';
import { removeComponent } from './dev-source.js';

/** Runs an action at each save with its props, which are asked for at first. */
export const followAction = async (followed: Followed): Promise<void> => {
  const { session, report, context, component, options, own } = followed;
  let current: Component = component;
  const form = await formOf({ command: 'dev', context, session, component, options, own, former: undefined });
  const filled = await form.fill();
  const run = async (saved: Component): Promise<void> => {
    const startedAt = performance.now();
    const body = {
      id: saved.id,
      configured_props: filled.values,
      ...(filled.dynamicPropsId === undefined ? {} : { dynamic_props_id: filled.dynamicPropsId }),
    };
    const json = exactLine(body);
    const reply = await session.request({ method: 'POST', path: '/v1/actions/run', json });
    tellRun(followed, reply, Math.round(performance.now() - startedAt));
  };
  report.tell('ready', { component_id: component.id, name: component.name, server: session.server.url }, [
    `${component.name} (${component.id}) on ${session.server.url}, run at each save`,
  ]);
  await onEachSave(followed, async (files) => {
    const saved = await saveFiles(session, files);
    const former = current;
    current = saved;
    if (former.id !== saved.id) await removeComponent(session, former.id);
    try {
      await run(saved);
    } catch (error) {
      if (!(error instanceof CommandFailure) || error.code !== 'action_failed') throw error;
      tellFailed(followed, error);
    }
  });
};

const tellRun = ({ report }: Followed, reply: Fields, ms: number): void => {
  const { ret = null, exports = {}, os } = reply;
  tellLogs({ report }, os);
  report.tell('run', { kind: 'action', ms, status: 'ok', ret, exports }, [
    [{ text: 'returned', as: 'good' }, ` ${jsonLine(ret)} in ${ms} ms`],
    ...Object.entries(isFields(exports) ? exports : {}).map(([name, value]) => `export ${name} ${jsonLine(value)}`),
  ]);
};

const tellLogs = ({ report }: Pick<Followed, 'report'>, os: unknown): void => {
  for (const log of objectsIn(os)) report.tell(log['err'] === undefined ? 'log' : 'error', log, [observationLine(log)]);
};

const tellFailed = ({ report }: Followed, { message, details }: CommandFailure): void => {
  tellLogs({ report }, details['observations']);
  report.tell('run', { kind: 'action', status: 'threw', error: message }, [
    [{ text: 'failed', as: 'bad' }, ` ${message}`],
  ]);
};
