import { emitKeypressEvents } from 'node:readline';
import { CommandFailure } from '../../workflows/failure.js';
import { type Context } from '../context.js';
import { harmless } from '../text.js';

export interface Key {
  readonly does: string;
  readonly act: () => Promise<void>;
}

/** Keys of a terminal, one act at a time. They rest while an act asks something. */
export class Keys {
  private isActing = false;

  constructor(
    private readonly context: Context,
    private readonly keys: Readonly<Record<string, Key>>,
    /** Ctrl-C, which a terminal sends as a key from now on. */
    private readonly interrupt: () => void,
  ) {}

  open(): void {
    emitKeypressEvents(process.stdin);
    process.stdin.on('keypress', this.pressed);
    listen(true);
  }

  close(): void {
    process.stdin.off('keypress', this.pressed);
    listen(false);
  }

  help(): string {
    return Object.entries({ ...this.keys, '?': { does: 'keys' } })
      .map(([key, { does }]) => `${key} ${does}`)
      .join(', ');
  }

  private readonly pressed = (
    text: string | undefined,
    key: { readonly name?: string; readonly ctrl?: boolean },
  ): void => {
    if (key.ctrl === true && key.name === 'c') this.interrupt();
    else if (text === '?') this.context.io.err(this.help());
    else void this.act(this.keys[text ?? '']);
  };

  private async act(key: Key | undefined): Promise<void> {
    if (key === undefined || this.isActing) return;
    this.isActing = true;
    listen(false);
    try {
      await key.act();
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      this.context.io.err(harmless(error.message));
    } finally {
      listen(true);
      this.isActing = false;
    }
  }
}

const listen = (isOn: boolean): void => {
  process.stdin.setRawMode(isOn);
  if (isOn) process.stdin.resume();
  else process.stdin.pause();
};
