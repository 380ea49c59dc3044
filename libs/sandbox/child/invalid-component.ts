/** The author must change something; `prop` names the one concerned. */
export class InvalidComponent extends Error {
  constructor(
    message: string,
    readonly prop: string | null = null,
  ) {
    super(message);
    this.name = 'InvalidComponent';
  }
}
