import { messageOf } from '#libs/kernel/error-message.js';
import { Faults } from '#libs/kernel/faults.js';
import { brokerAwayIn } from './broker-connection.js';

/**
 * Reports each fault of Kafka once while it lasts, and once when it is over. Failures with the same cause, such as a
 * broker that is away, are one fault. An `error` that is a text is reported each time.
 */
export class TellingFaults {
  private readonly faults: Faults;

  constructor(private readonly say: (text: string, fields: Record<string, unknown>) => void) {
    this.faults = new Faults({ say: (text, fields) => say(text, { ...fields }) });
  }

  tell(text: string, error: unknown, fields: Record<string, unknown>): void {
    const message = messageOf(error);
    if (!(error instanceof Error)) {
      this.say(text, { ...fields, error: message });
      return;
    }
    const away = brokerAwayIn(error);
    if (away) {
      this.faults.met(`broker ${away.broker}`, 'a broker cannot be reached', { broker: away.broker, error: message });
    } else this.faults.met(`${text}: ${message}`, text, { ...fields, error: message });
  }

  close(): void {
    this.faults.close();
  }
}
