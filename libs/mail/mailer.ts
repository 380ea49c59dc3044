export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
  readonly html?: string;
  /** Equal for a repeat, so that a mail program shows it once. */
  readonly messageId: string;
}

/**
 * Rejects with MailRefused when the server accepted the connection but not this mail, and with another error otherwise.
 */
export interface Mailer {
  /** Resolves when the server has accepted the mail. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** The server refused one mail, permanently or temporarily. */
export class MailRefused extends Error {
  constructor(
    message: string,
    readonly isFinal: boolean,
  ) {
    super(message);
    this.name = 'MailRefused';
  }
}
