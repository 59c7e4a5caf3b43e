#include "spring_scene.h"

#include <fbtweak.h>

const char *spring_scene_label(void) {
  return FBTweakValue("Spring", "Scene", "Label", "spring");
}

void spring_scene_advance(struct spring *spring, double frame_duration) {
  double time_step =
      FBTweakValue("Spring", "Scene", "Time step", 0.004, 0.0001, 0.05, FBTweakScale("log"));
  for (double time = 0; time < frame_duration; time += time_step)
    spring_advance(spring, time_step);
}
