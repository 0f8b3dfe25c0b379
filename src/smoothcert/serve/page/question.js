// One question to the stream: it may be left at any look, and what was told by then is kept by the service.

import { ApiError, askJson, askStream } from "/static/api.js";

const PATIENCE = 12, PAUSE = 250; // tries and milliseconds until the service knows that we have left

export class AskedQuestion {
  constructor(body, { begun, looked }) {
    [this.body, this.begun, this.looked] = [body, begun, looked];
    this.leaving = new AbortController();
    this.name = null;
  }

  leave() {
    this.leaving.abort();
  }

  // Returns the certificate; null if the question was left before anything was told of it.
  async answer() {
    try {
      for await (const [event, data] of askStream("/v1/certify/stream", { body: this.body, signal: this.leaving.signal })) {
        if (event === "end") return data;
        if (event === "error") throw new ApiError(data.error.code, data.error.message);
        if (event === "begin") {
          this.name = data.certificate;
          this.begun(data);
        } else if (!this.leaving.signal.aborted) this.looked(data);
      }
    } catch (error) {
      if (!this.leaving.signal.aborted && (error instanceof ApiError || this.name === null)) throw error;
    }
    return this.name === null ? null : this.kept();
  }

  // The certificate of a stream that was left, or whose connection broke.
  async kept() {
    let found = null;
    for (let tries = 0; tries < PATIENCE; tries++) {
      found = await askJson(`/v1/certificates/${this.name}`).catch(error => {
        if (error.code === "not_found") return null;
        throw new ApiError(error.code, `${error.message} What it told is kept as certificate ${this.name}.`);
      });
      if (found && found.status !== "running") return found;
      await new Promise(resolve => setTimeout(resolve, PAUSE));
    }
    return found; // others still ask the same: running, and as true as any
  }
}
