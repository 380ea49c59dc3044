/** Interval at which a paused source checks whether it may go on. */
const LOOK_MS = 20;

/** Holds a source back while it must start no more runs. */
export class SourcePause {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly isPaused: () => boolean,
    private readonly goOn: () => void,
  ) {}

  /** True while it must wait. Calls `goOn` when it is time to ask again. */
  holds(): boolean {
    if (!this.isPaused()) return false;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.goOn();
    }, LOOK_MS).unref();
    return true;
  }
}
