/** Answers a request to an endpoint with 400, because the client must change it. */
export class RefusedRequest extends Error {
  constructor(
    /** Public code in the error body. */
    readonly code: 'invalid_json' | 'invalid_parameter' | 'not_supported' | 'too_many_fields',
    message: string,
  ) {
    super(message);
    this.name = 'RefusedRequest';
  }
}
