#ifndef SPRING_PHYSICS_H
#define SPRING_PHYSICS_H

/* A mass on a damped spring, in metres and seconds relative to the rest position. */
struct spring {
  double position;
  double velocity;
};

/* Advances the mass by a time step, in seconds. */
void spring_advance(struct spring *spring, double time_step);

#endif
