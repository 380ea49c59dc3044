import { CommandFailure } from '../failure.js';
import { deployComponent, deployed, endpointsOf, placeLines } from '../deployment.js';
import { saveFiles } from '../components.js';
import { type FilesOfComponent } from '../files-of-component.js';
import { fieldText } from '../json.js';
import { Interrupted } from '../prompts.js';
import { type Source, sourceIfThere, sourceIn, sourceNamed } from '../sources.js';
import { type Line } from '../text.js';
import { DevSource, removeComponent } from './dev-source.js';
import { type Attached, type DevState } from './dev-state.js';
import { type Subscribed, subscribedTo } from './emitter.js';
import { type Followed, onEachSave } from './followed.js';
import { type DevOptions } from './index.js';
import { Keys } from './keys.js';
import { keysOf } from './keys-of-source.js';
import { Live } from './live.js';

export interface FollowedSource extends Followed {
  readonly options: DevOptions;
  /** As the state names it. */
  readonly server: string;
  readonly state: DevState;
  /** Path of the file in its project. */
  readonly name: string;
  /** Address that each of its events is posted to. */
  readonly forward: string | undefined;
  /** Sent at the start and after each save, as JSON. */
  readonly events: readonly string[];
  /** Ends the session. */
  readonly interrupt: () => void;
}

/** Deploys a file as a source, and gives it each save. The source is stopped at the end, unless it shall stay active. */
export const followSource = async (followed: FollowedSource): Promise<void> => {
  const { context, session, options, server, state, name } = followed;
  const before = options.source === undefined ? state.find(server, name) : undefined;
  const former = await formerSource(followed, before);
  const attached = await deployComponent({ ...followed, command: 'dev', former, active: true });
  const { source, warnings } = deployed(attached, followed.component);
  const current = new DevSource(session, source.id, followed.component.id, followed.files);
  keepState(followed, current);
  // Another component is somebody else's.
  const isOurs = before !== undefined && fieldText(former?.fields, 'component_id') === before.componentId;
  if (isOurs && before.componentId !== current.componentId) await removeComponent(session, before.componentId);
  const { from, channel = '' } = options;
  let subscribed: Subscribed | undefined;
  const live = new Live({ ...followed, sourceId: source.id, workspaceId: fieldText(source.fields, 'owner_id') });
  const keys = context.prompts && new Keys(context, keysOf(followed, context.prompts, current), followed.interrupt);
  const followFile = async (): Promise<void> => {
    await sendAll(followed, current);
    await onEachSave(followed, (files) => update(followed, current, keys, files));
  };
  try {
    if (from !== undefined) subscribed = await subscribedTo(session, source, from, channel);
    await live.connect();
    tellReady(followed, source, warnings, subscribed);
    keys?.open();
    await Promise.all([live.follow(), followFile()]);
  } finally {
    keys?.close();
    await end(followed, current, subscribed);
  }
  if (options.rm === true) context.io.err(`${source.name} (${source.id}) is deleted`);
};

/** Lets the next session attach to the source. */
const keepState = ({ state, server, name }: FollowedSource, { id, componentId }: DevSource): void =>
  state.keep({ server, file: name, sourceId: id, componentId });

/** The source to attach to: the named one, or that of the last session, if it is still there. */
const formerSource = async (
  { session, options }: FollowedSource,
  before: Attached | undefined,
): Promise<Source | undefined> => {
  if (options.source !== undefined) return sourceNamed(session, options.source);
  return before === undefined ? undefined : sourceIfThere(session, before.sourceId);
};

const tellReady = (
  { context, session, report, server }: FollowedSource,
  source: Source,
  warnings: readonly unknown[],
  subscribed: Subscribed | undefined,
): void => {
  const { id, name } = source;
  const [url = null, ...others] = endpointsOf(source);
  const where = server === 'own' ? `its own server at ${session.server.url}` : session.server.url;
  const lines: readonly Line[] = [
    [{ text: name, as: 'strong' }, ` (${id}) on ${where}`],
    ...placeLines(source, context.look),
    ...(subscribed === undefined ? [] : [`It gets what ${subscribed.emitterId} emits.`]),
    `Each save is deployed. Ctrl-C ends${context.prompts === undefined ? '' : ', ? tells the keys'}.`,
  ];
  report.tell(
    'ready',
    { source_id: id, name, url, urls: url === null ? [] : [url, ...others], server: session.server.url },
    lines,
  );
  for (const warning of warnings) report.tell('warning', { warning }, [`warning: ${fieldText(warning, 'message')}`]);
};

const update = async (
  followed: FollowedSource,
  current: DevSource,
  keys: Keys | undefined,
  files: FilesOfComponent,
): Promise<void> => {
  const startedAt = performance.now();
  try {
    const source = await current.update(files);
    if (source === undefined) return;
    const ms = Math.round(performance.now() - startedAt);
    const component = fieldText(source, 'component_id');
    followed.report.tell('updated', { source_id: current.id, component_id: component, ms }, [
      [{ text: 'updated', as: 'good' }, ` in ${ms} ms`],
    ]);
    keepState(followed, current);
    await current.removeFormer();
    await sendAll(followed, current);
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.code !== 'missing_prop' || keys === undefined) throw error;
    await keys.ask(() => askedFor(followed, current, files));
  }
};

/** The new code has a prop that needs a value. */
const askedFor = async (followed: FollowedSource, current: DevSource, files: FilesOfComponent): Promise<void> => {
  const { session } = followed;
  const component = await saveFiles(session, files);
  const { data } = await session.request({ method: 'GET', path: `/v1/sources/${current.id}` });
  const former = sourceIn(data);
  try {
    await deployComponent({ ...followed, own: {}, component, command: 'dev', former, active: true });
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    followed.interrupt();
    return;
  }
  followed.report.tell('updated', { source_id: current.id, component_id: component.id }, ['updated']);
  current.given(files, component.id);
  keepState(followed, current);
  await current.removeFormer();
};

/** Sends the events of `--event`, in their order. */
const sendAll = async ({ events }: FollowedSource, current: DevSource): Promise<void> => {
  for (const event of events) await current.run(event);
};

const end = async (
  { options, server, state, name, context }: FollowedSource,
  current: DevSource,
  subscribed: Subscribed | undefined,
): Promise<void> => {
  if (options.keep === true) return;
  // A source that others use may have had it for them.
  const stays = subscribed?.isFormer === true && options.source !== undefined;
  try {
    if (!stays) await subscribed?.end();
    if (options.rm === true) {
      await current.remove();
      state.forget({ server, file: name });
    } else await current.stop();
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    context.io.err(`warning: ${current.id} could not be stopped: ${error.message}`);
  }
};
