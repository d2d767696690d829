/** A software authenticator. Tests choose the origin and RP ID, so it can also create a phishing page's responses. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

interface Challenge {
  /** The challenge in the options that the service returned. */
  challenge: string;
  /** The origin of the page in the browser. */
  origin: string;
  /** The relying party ID (RP ID) that the browser passes to the authenticator; the origin's host if omitted. */
  rpId?: string;
}

const USER_PRESENT = 0x01;
const HAS_CREDENTIAL = 0x40;

export class PasskeyDevice {
  readonly id = randomBytes(32);
  /** The signature counter, which `get` increments. Every response includes it. */
  count = 0;
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
  });

  /** Returns the response of `navigator.credentials.create()` as JSON. */
  create(given: Challenge) {
    const clientDataJSON = clientData("webauthn.create", given);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.id, this.#coseKey()]);
    const authData = Buffer.concat([
      this.#authenticatorData(given, USER_PRESENT | HAS_CREDENTIAL),
      credential,
    ]);
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      ...[cborText("fmt"), cborText("none"), cborText("attStmt"), Buffer.from([0xa0])],
      ...[cborText("authData"), cborBytes(authData)],
    ]);
    return this.#response({ clientDataJSON, attestationObject, transports: ["internal"] });
  }

  /** Returns the response of `navigator.credentials.get()` as JSON. */
  get(given: Challenge) {
    this.count += 1;
    const clientDataJSON = clientData("webauthn.get", given);
    const authenticatorData = this.#authenticatorData(given, USER_PRESENT);
    const signed = Buffer.concat([authenticatorData, createHash("sha256").update(clientDataJSON).digest()]);
    const signature = sign("sha256", signed, this.#keys.privateKey);
    return this.#response({ clientDataJSON, authenticatorData, signature });
  }

  #authenticatorData({ origin, rpId = new URL(origin).hostname }: Challenge, flags: number): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.count);
    return Buffer.concat([createHash("sha256").update(rpId).digest(), Buffer.from([flags]), count]);
  }

  /** Returns the ES256 public key on P-256 as a COSE key (RFC 9052). */
  #coseKey(): Buffer {
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const [left, right] = [x, y].map((part) => cborBytes(Buffer.from(part, "base64url")));
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      ...[left ?? Buffer.alloc(0), Buffer.from([0x22]), right ?? Buffer.alloc(0)],
    ]);
  }

  #response(response: Record<string, Buffer | string[]>): string {
    const encoded = Object.entries(response).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString("base64url") : value,
    ]);
    const id = this.id.toString("base64url");
    return JSON.stringify({
      ...{ id, rawId: id, type: "public-key", clientExtensionResults: {} },
      response: Object.fromEntries(encoded),
    });
  }
}

function clientData(type: string, { challenge, origin }: Challenge): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}

/** Encodes 24 to 65,535 bytes as a CBOR byte string. */
function cborBytes(bytes: Buffer): Buffer {
  const { length } = bytes;
  const head = length < 256 ? [0x58, length] : [0x59, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), bytes]);
}
