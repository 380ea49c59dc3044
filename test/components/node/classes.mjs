import { EventEmitter, once } from 'node:events';

class Account {
  static count = 0;
  #balance = 0;
  constructor() {
    Account.count++;
  }
  get balance() {
    return this.#balance;
  }
  deposit(amount) {
    this.#balance += amount;
    return this;
  }
}

class Feed extends EventEmitter {
  start() {
    setTimeout(() => this.emit('item', { id: 1 }), 1);
    return this;
  }
}

export default {
  name: 'Classes',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  async run() {
    const account = new Account().deposit(5).deposit(2);
    const [item] = await once(new Feed().start(), 'item');
    const target = new EventTarget();
    let heard = 0;
    target.addEventListener('ping', () => heard++);
    target.dispatchEvent(new Event('ping'));
    this.$emit([account.balance, Account.count, Object.keys(account), item, heard, new Feed() instanceof EventEmitter]);
  },
};
