/**
 * Controls the TCP socket of a client's connection through libc. Bun can neither reset one connection nor report how much of a
 * file has arrived. Without Linux and glibc, neither is possible.
 */
import { dlopen, FFIType } from "bun:ffi";
import { readdirSync } from "node:fs";

interface TcpPorts {
  /** The client's port. */
  peer: number;
  /** The service's port. */
  local: number;
}

const { i32, ptr, u32 } = FFIType;
const LIBC = {
  getpeername: { args: [i32, ptr, ptr], returns: i32 },
  getsockname: { args: [i32, ptr, ptr], returns: i32 },
  getsockopt: { args: [i32, i32, i32, ptr, ptr], returns: i32 },
  setsockopt: { args: [i32, i32, i32, ptr, u32], returns: i32 },
} as const;

/** Linux constants. */
const SOL_SOCKET = 1;
const SO_LINGER = 13;
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const AF_INET = 2;
const AF_INET6 = 10;
/** Offset of `tcpi_bytes_acked` in `struct tcp_info`. */
const BYTES_ACKED_AT = 120;
/** Larger than any `struct sockaddr`. */
const ADDRESS_BYTES = 128;

type Libc = NonNullable<ReturnType<typeof openLibc>>;

/** Opened on first use. */
let libc: Libc | null | undefined;

function openLibc() {
  try {
    return process.platform === "linux" ? dlopen("libc.so.6", LIBC).symbols : null;
  } catch {
    return null;
  }
}

/** One connection of this process. Each use checks its file descriptor, because the kernel may reuse the number. */
export class TcpSocket {
  readonly #ports: TcpPorts;
  #fd = -1;

  constructor(ports: TcpPorts) {
    this.#ports = ports;
  }

  /** Returns the bytes that the client's kernel has acknowledged since the connection opened; null if unknown. */
  acknowledgedBytes(): number | null {
    const found = this.#find();
    if (!found) return null;
    const info = new DataView(new ArrayBuffer(BYTES_ACKED_AT + 8));
    const length = new Uint32Array([info.byteLength]);
    const isRead = found.c.getsockopt(found.fd, IPPROTO_TCP, TCP_INFO, bytesOf(info), length) === 0;
    return isRead && length[0] === info.byteLength ? Number(info.getBigUint64(BYTES_ACKED_AT, true)) : null;
  }

  /** Makes the kernel drop unsent data and send a reset when the connection is closed. */
  resetOnClose(): void {
    const found = this.#find();
    // Linger for 0 seconds.
    const linger = new Int32Array([1, 0]);
    found?.c.setsockopt(found.fd, SOL_SOCKET, SO_LINGER, linger, linger.byteLength);
  }

  /** Returns libc and the file descriptor; null without libc, or unless exactly one descriptor has these ports. */
  #find(): { c: Libc; fd: number } | null {
    if (libc === undefined) libc = openLibc();
    const c = libc;
    if (c === null) return null;
    if (this.#fd >= 0 && this.#isOurs(c, this.#fd)) return { c, fd: this.#fd };
    const [fd = -1, ...others] = readdirSync("/proc/self/fd")
      .map(Number)
      .filter((candidate) => this.#isOurs(c, candidate));
    this.#fd = others.length === 0 ? fd : -1;
    return this.#fd < 0 ? null : { c, fd: this.#fd };
  }

  #isOurs(c: Libc, fd: number): boolean {
    return portOf(c.getpeername, fd) === this.#ports.peer && portOf(c.getsockname, fd) === this.#ports.local;
  }
}

function portOf(name: Libc["getpeername"], fd: number): number | null {
  const address = new DataView(new ArrayBuffer(ADDRESS_BYTES));
  const length = new Uint32Array([ADDRESS_BYTES]);
  if (name(fd, bytesOf(address), length) !== 0) return null;
  const family = address.getUint16(0, true);
  return family === AF_INET || family === AF_INET6 ? address.getUint16(2) : null;
}

function bytesOf({ buffer }: DataView<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer);
}
