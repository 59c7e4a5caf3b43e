/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A quadrotor that holds its place in gusts, seen from the front: three loops at 1 kHz, of which
 * the outer one demands an angle, the next a rate, and the inner one a torque. In each of 200
 * flights its five gains are changed from slow ones to fast ones and back, again and again; both
 * sets are stable, but not a fast outer loop around slow inner ones.
 *
 *     quadrotor gate|single
 *
 * Through the gate a set arrives in one turn of the loop; single gains arrive in any order, up to
 * two seconds apart, as people set them. Time is simulated. Prints how many flights left the
 * bounds.
 */
#include "mailbox.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { gain_count = 5, flights = 200, turns = 20000 };
static const char *const names[gain_count] = {"Place", "Speed", "Angle", "Rate", "Torque"};
static const double sets[2][gain_count] = {{1, 1.8, 4, 12, 1}, {25, 10, 14, 40, 1}};
static const double gravity = 9.81, lag = 0.008, step = 0.001, bound = 0.5, most_tilt = 0.6;

static uint64_t random_state;
static double between(double low, double high) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(random_state >> 33) / 2147483648.0;
}
static double clamp(double value, double most) {
  return fmax(-most, fmin(most, value));
}

static struct { double place, speed, angle, rate, torque, gust; } body;

/* One turn of the loops, and a millisecond of physics. */
static void turn(void) {
  FBTweakGate("Quadrotor");
  double wanted_angle = -(FBTweakValue("Quadrotor", "Loops", "Place", 0.8) * body.place +
                          FBTweakValue("Quadrotor", "Loops", "Speed", 1.6) * body.speed) /
                        gravity;
  double wanted_rate =
      FBTweakValue("Quadrotor", "Loops", "Angle", 4.0) * (clamp(wanted_angle, 1.2) - body.angle);
  double wanted_torque = FBTweakValue("Quadrotor", "Loops", "Torque", 1.0) *
                         FBTweakValue("Quadrotor", "Loops", "Rate", 12.0) *
                         (clamp(wanted_rate, 8) - body.rate);

  body.torque += (clamp(wanted_torque, 200) - body.torque) * step / lag;
  body.rate += body.torque * step;
  body.angle += body.rate * step;
  body.gust += (between(-1, 1) - body.gust) * step / 0.2;
  body.speed += (gravity * tan(clamp(body.angle, 1.4)) + 6 * body.gust) * step;
  body.place += body.speed * step;
}

int main(int count, char **arguments) {
  if (count != 2)
    return 64;
  bool is_whole = strcmp(arguments[1], "gate") == 0;
  struct fbtweak__gate *gate = record_of(FBTWEAK_KIND_GATE, 0);
  uint64_t *cells[gain_count];
  for (int i = 0; i < gain_count; i++)
    cells[i] = &((fbtweak *)record_of(FBTWEAK_KIND_VALUE, names[i]))->cell;

  int left = 0;
  for (int flight = 0; flight < flights; flight++) {
    random_state = (uint64_t)flight + 1;
    memset(&body, 0, sizeof body);
    uint64_t values[2][gain_count];
    memcpy(values, sets, sizeof values);
    for (int i = 0; i < gain_count; i++)
      __atomic_store_n(cells[i], values[0][i], __ATOMIC_RELAXED);
    int next = 0, order[gain_count] = {0, 1, 2, 3, 4}, changed = gain_count, set = 0;
    bool is_inside = true;
    for (int time = 0; time < turns && is_inside; time++) {
      if (time >= next && changed == gain_count) {
        set = !set;
        changed = 0;
        for (int i = gain_count - 1; i > 0; i--) {
          int other = (int)between(0, i + 1), kept = order[i];
          order[i] = order[other];
          order[other] = kept;
        }
      }
      if (time >= next && is_whole) {
        if (!send(gate, cells, values[set], gain_count))
          return 70;
        changed = gain_count;
        next = time + (int)between(500, 3000);
      } else if (time >= next) {
        __atomic_store_n(cells[order[changed]], values[set][order[changed]], __ATOMIC_RELAXED);
        changed++;
        next = time + (int)between(100, 2000);
      }
      turn();
      is_inside = fabs(body.place) < bound && fabs(body.angle) < most_tilt;
    }
    left += !is_inside;
  }
  printf("%d of %d flights left the bounds\n", left, flights);
  return 0;
}
