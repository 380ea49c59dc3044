import { setTimeout as pause } from 'node:timers/promises';
import { CommandFailure } from '../failure.js';
import { codeOfFiles } from '../components.js';
import { type FilesOfComponent } from '../files-of-component.js';
import { type Fields, fieldText } from '../json.js';
import { type Session } from '../session.js';
import { sourceIn } from '../sources.js';

/** Another operation on the source, such as one in the console, is over after so many tries. */
const BUSY_TRIES = 20;
const BUSY_MS = 100;

/** A source that follows its file. */
export class DevSource {
  /** What it was last given, as JSON. */
  private sent: string;
  private readonly former = new Set<string>();
  private active = true;

  constructor(
    private readonly session: Session,
    readonly id: string,
    private present: string,
    files: FilesOfComponent,
  ) {
    this.sent = jsonOf(files);
  }

  /** What it has now. */
  get componentId(): string {
    return this.present;
  }

  /** Gives the source new code. Resolves with undefined when it has that already. Rejects with CommandFailure. */
  async update(files: FilesOfComponent): Promise<Fields | undefined> {
    const json = jsonOf(files);
    if (json === this.sent) return undefined;
    const { data } = await this.put(JSON.stringify({ ...codeOfFiles(files), active: this.active }));
    const { fields } = sourceIn(data);
    this.given(files, fieldText(fields, 'component_id'));
    return fields;
  }

  /** It was given this in another way. */
  given(files: FilesOfComponent, componentId: string): void {
    this.sent = jsonOf(files);
    this.former.add(this.present);
    this.former.delete(componentId);
    this.present = componentId;
  }

  /** Deletes the components that it had before. */
  async removeFormer(): Promise<void> {
    for (const id of this.former) {
      this.former.delete(id);
      await removeComponent(this.session, id);
    }
  }

  async stop(): Promise<void> {
    await this.put(JSON.stringify({ active: false }));
  }

  /** Stops it until this is called again. Resolves with whether it is active. */
  async pause(): Promise<boolean> {
    await this.put(JSON.stringify({ active: !this.active }));
    return (this.active = !this.active);
  }

  /** Has it run once, for an event as JSON, or for what its timer would send. */
  async run(event: string | undefined): Promise<void> {
    const json = event === undefined ? '{}' : `{"event":${event}}`;
    await this.session.request({ method: 'POST', path: `/v1/sources/${this.id}/run`, json });
  }

  async remove(): Promise<void> {
    await this.session.request({ method: 'DELETE', path: `/v1/sources/${this.id}` });
  }

  private async put(json: string): Promise<Fields> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.session.request({ method: 'PUT', path: `/v1/sources/${this.id}`, json });
      } catch (error) {
        if (!(error instanceof CommandFailure) || error.code !== 'source_busy' || tries === BUSY_TRIES) throw error;
        await pause(BUSY_MS);
      }
    }
  }
}

const jsonOf = (files: FilesOfComponent): string => JSON.stringify(codeOfFiles(files));

/** Deletes a component that was replaced. One that another source uses stays. */
export const removeComponent = async (session: Session, id: string): Promise<void> => {
  try {
    await session.request({ method: 'DELETE', path: `/v1/components/${id}` });
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
  }
};
