/** A request to an endpoint that is answered 400: the client is to send something else. */
export class RefusedRequest extends Error {
  constructor(
    /** Public word of the error body. */
    readonly code: 'invalid_json' | 'too_many_fields',
    message: string,
  ) {
    super(message);
    this.name = 'RefusedRequest';
  }
}
