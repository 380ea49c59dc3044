import { emitKeypressEvents } from 'node:readline';
import { CommandFailure } from '../failure.js';
import { type Context } from '../context.js';
import { Interrupted } from '../prompts.js';
import { harmless } from '../text.js';

export interface Key {
  readonly does: string;
  /** Whether it asks something. */
  readonly asks?: true;
  readonly act: () => Promise<void>;
}

/** Acts that wait for the one before. More keys are ignored, such as those of a key that is held down. */
const MOST_WAITING = 10;

/** Keys of a terminal, one act at a time. They rest while something is asked. */
export class Keys {
  private isResting = false;
  private isOpen = false;
  private acts: Promise<void> = Promise.resolve();
  private waiting = 0;

  constructor(
    private readonly context: Context,
    private readonly keys: Readonly<Record<string, Key>>,
    /** What q does, and Ctrl-C, which a terminal sends as a key from now on. */
    private readonly interrupt: () => void,
  ) {}

  open(): void {
    this.isOpen = true;
    emitKeypressEvents(process.stdin);
    process.stdin.on('keypress', this.pressed);
    listen(true);
  }

  close(): void {
    this.isOpen = false;
    process.stdin.off('keypress', this.pressed);
    listen(false);
  }

  /** Asks something, after what is being done. What is typed until its end is no key. */
  ask<T>(work: () => Promise<T>): Promise<T> {
    const asked = this.acts.then(() => this.rest(work));
    this.acts = asked.then(nothing, nothing);
    return asked;
  }

  help(): string {
    return Object.entries({ ...this.keys, q: { does: 'quit' }, '?': { does: 'keys' } })
      .map(([key, { does }]) => `${key} ${does}`)
      .join(', ');
  }

  private readonly pressed = (
    text: string | undefined,
    key: { readonly name?: string; readonly ctrl?: boolean },
  ): void => {
    if (this.isResting) return;
    if (text === 'q' || (key.ctrl === true && key.name === 'c')) this.interrupt();
    else if (text === '?') this.context.io.err(this.help());
    else this.take(this.keys[text ?? '']);
  };

  private take(key: Key | undefined): void {
    if (key === undefined || this.waiting >= MOST_WAITING) return;
    this.waiting++;
    this.acts = this.acts.then(() => this.act(key)).finally(() => this.waiting--);
  }

  private async rest<T>(work: () => Promise<T>): Promise<T> {
    this.isResting = true;
    listen(false);
    try {
      return await work();
    } finally {
      this.isResting = false;
      if (this.isOpen) listen(true);
    }
  }

  private async act({ act, asks }: Key): Promise<void> {
    try {
      await (asks ? this.rest(act) : act());
    } catch (error) {
      // Who leaves a question goes on without it.
      if (error instanceof Interrupted) return;
      if (!(error instanceof CommandFailure)) throw error;
      this.context.io.err(harmless(error.message));
    }
  }
}

const nothing = (): void => undefined;

const listen = (isOn: boolean): void => {
  process.stdin.setRawMode(isOn);
  if (isOn) process.stdin.resume();
  else process.stdin.pause();
};
