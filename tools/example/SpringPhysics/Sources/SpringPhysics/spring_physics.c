#include "spring_physics.h"

#include <fbtweak.h>

void spring_advance(struct spring *spring, double time_step) {
  double stiffness =
      FBTweakValue("Spring", "Physics", "Stiffness", 120.0, 1, 1000, FBTweakPair("Damping"));
  double mass = FBTweakValue("Spring", "Physics", "Mass", 1.0, 0.1, 100);
  double force = -stiffness * spring->position;
  if (FBTweakValue("Spring", "Physics", "Damped", true))
    force -= FBTweakValue("Spring", "Physics", "Damping", 1.5, 0, 50) * spring->velocity;

  /* Semi-implicit Euler: the new velocity moves the mass, which keeps an undamped spring going. */
  spring->velocity += force / mass * time_step;
  spring->position += spring->velocity * time_step;
}
