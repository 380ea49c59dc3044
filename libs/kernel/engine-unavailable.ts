/**
 * An engine cannot serve a request now: it is unreachable, moves its data, is full or closed, or refuses this process.
 * The change may have been made nevertheless.
 */
export class EngineUnavailable extends Error {
  override readonly name: string = 'EngineUnavailable';

  constructor(
    /** Name for the operator, such as `Kafka`. */
    readonly engine: string,
    reason: string,
    options: ErrorOptions & { readonly full?: boolean } = {},
  ) {
    super(reason, options);
    this.full = options.full ?? false;
  }

  /** Nothing was stored, because there is no room. */
  readonly full: boolean;
}

/**
 * Recognises an error that the state of an engine caused. Undefined for any other, such as a bug or a refusal by a
 * port.
 */
export type FaultOf = (error: unknown) => EngineUnavailable | undefined;
