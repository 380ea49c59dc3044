/**
 * An engine cannot do now what it was asked: it is away, moves its data, is full or closed, or does not let this process
 * in. A change may have been made all the same.
 */
export class EngineUnavailable extends Error {
  override readonly name: string = 'EngineUnavailable';

  constructor(
    /** For the operator, such as `Kafka`. */
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

/** What an error tells of the state of an engine; undefined for any other error, such as a bug or a refusal of a port. */
export type FaultOf = (error: unknown) => EngineUnavailable | undefined;
