/** Fault that the author must fix. `prop` names the prop concerned. */
export class InvalidComponent extends Error {
  constructor(
    message: string,
    readonly prop: string | null = null,
  ) {
    super(message);
    this.name = 'InvalidComponent';
  }
}
