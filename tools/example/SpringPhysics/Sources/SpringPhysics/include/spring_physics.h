#ifndef SPRING_PHYSICS_H
#define SPRING_PHYSICS_H

/* A mass on a damped spring, in metres and seconds from where the spring is at rest. */
struct spring {
  double position;
  double velocity;
};

/* Moves the mass on by a time step, in seconds. */
void spring_advance(struct spring *spring, double time_step);

#endif
