// SPDX-License-Identifier: BSD-3-Clause

// Drags by mice, pens and fingers. A finger on a slider may be about to scroll, and then sets nothing.

/** A pointer that moves less, in CSS pixels, has not dragged. */
const leastDrag = 4;

/** Whether a pointer has moved sideways from where it was pressed; a finger or a pen more than up or down. */
export function isSideways(event, start) {
  const [across, along] = [event.clientX - start.clientX, event.clientY - start.clientY].map(Math.abs);
  return across >= leastDrag && (event.pointerType === "mouse" || across > along);
}

/**
 * Follows a slider.
 *
 * - press: called when a pointer presses it.
 * - move: called with each new position.
 * - release: called when the slider is released.
 * - cancel: called when the browser takes the pointer, such as for scrolling.
 */
export function followSlider(input, { press = () => {}, move, release, cancel }) {
  /**
   * @type {{ start: any, before: string, position?: string } | undefined} A press that may be the start of scrolling.
   */
  let undecided;
  const decide = () => {
    const { position } = undecided ?? {};
    undecided = undefined;
    if (position === undefined) return;
    input.value = position;
    move();
  };
  input.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse") undecided = { start: event, before: input.value };
    press();
  });
  input.addEventListener("pointermove", (event) => {
    if (undecided && isSideways(event, undecided.start)) decide();
  });
  input.addEventListener("input", () => {
    if (!undecided) {
      move();
      return;
    }
    undecided.position = input.value;
    input.value = undecided.before;
  });
  for (const name of ["pointerup", "change", "blur"]) {
    input.addEventListener(name, () => {
      decide();
      release();
    });
  }
  input.addEventListener("pointercancel", () => {
    undecided = undefined;
    cancel();
  });
}
