/** Events of the emails about errors of a source. The stream id is that of the source. */
export interface ErrorEmailsSwitchedOn {
  readonly type: 'ErrorEmailsSwitchedOn';
  readonly data: {
    readonly sourceId: string;
    /** User who gets the emails. */
    readonly userId: string;
    readonly switchedOnAt: number;
  };
}
export interface ErrorEmailsSwitchedOff {
  readonly type: 'ErrorEmailsSwitchedOff';
  readonly data: { readonly switchedOffAt: number };
}
export type ErrorEmailsEvent = ErrorEmailsSwitchedOn | ErrorEmailsSwitchedOff;
