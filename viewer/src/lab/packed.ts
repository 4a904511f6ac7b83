/** Texts in addresses: deflated, base64 with the letters of addresses. */

type Bytes = Uint8Array<ArrayBuffer>;

async function through(bytes: Bytes, stream: GenericTransformStream, most: number): Promise<Uint8Array> {
  const reader = (new Blob([bytes]).stream().pipeThrough(stream) as ReadableStream<Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    length += part.value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`the address holds a text of more than ${most} bytes`);
    }
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export async function deflate(text: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"), Infinity);
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Unpacks at most so many bytes: a short address may hold a text without an end. */
export async function inflate(text: string, most: number): Promise<string> {
  let bytes: Bytes;
  try {
    bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  } catch {
    throw new Error("the address holds a text that cannot be read");
  }
  try {
    const unpacked = await through(bytes, new DecompressionStream("deflate-raw"), most);
    // a mark at the beginning is a part of a file
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(unpacked);
  } catch (error) {
    if (error instanceof Error && error.message.includes("more than")) throw error;
    throw new Error("the address holds a text that cannot be read", { cause: error });
  }
}
