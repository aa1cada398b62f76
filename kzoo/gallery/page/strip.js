// A canvas that grows with the steps: what was drawn of earlier steps stays, so that a step costs the same at any length.
import { sized } from "./dom.js";

export class Strip {
  /** `row(context, frames, step)` draws one step. */
  constructor(canvas, row) {
    Object.assign(this, { canvas, row });
    this.forget();
  }

  /** Begins anew: the size or the colours changed. */
  forget() {
    this.frames = null;
    this.drawn = -1;
  }

  /** Draws the steps up to `cursor`; `before(context)` draws what stands under them. */
  draw(frames, cursor, [width, height], before) {
    if (frames !== this.frames || cursor < this.drawn || `${width}x${height}` !== this.size) {
      this.context = sized(this.canvas, width, height);
      this.size = `${width}x${height}`;
      this.frames = frames;
      this.drawn = -1;
      before(this.context);
    }
    while (this.drawn < cursor) this.row(this.context, frames, ++this.drawn);
  }
}
