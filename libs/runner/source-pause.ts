/** Interval at which a paused source is checked. */
const LOOK_MS = 20;

/** Pauses a source while it must start no more runs. */
export class SourcePause {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly isPaused: () => boolean,
    private readonly goOn: () => void,
  ) {}

  /** True while the source must wait. Calls `goOn` when it is time to ask again. */
  holds(): boolean {
    if (!this.isPaused()) return false;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.goOn();
    }, LOOK_MS).unref();
    return true;
  }
}
